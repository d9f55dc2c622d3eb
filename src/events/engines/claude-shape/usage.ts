import type { Usage } from '../../protocol/usage.js';
import { omitMissing } from '../../reading/omit-missing.js';
import { countField, objectField } from '../../reading/record-fields.js';

interface UsageReading {
  readonly scope: Usage['scope'];
  readonly inputIncludesCache: boolean;
  readonly cost?: number | null;
  readonly model?: string | null;
}

/** Reads a `usage` object; null if it counts nothing. */
export function readUsage(
  usage: object | null,
  { scope, inputIncludesCache, cost, model }: UsageReading,
): Usage | null {
  if (usage === null) return null;
  const input = countField(usage, 'input_tokens');
  const output = countField(usage, 'output_tokens');
  if (input === null && output === null) return null;
  const cached = countField(usage, 'cache_read_input_tokens');
  const written = countField(usage, 'cache_creation_input_tokens');
  return {
    scope,
    input_tokens: (input ?? 0) + (inputIncludesCache ? 0 : (cached ?? 0) + (written ?? 0)),
    output_tokens: output ?? 0,
    ...omitMissing({
      cached_input_tokens: cached,
      cache_write_tokens: written,
      reasoning_tokens: countField(objectField(usage, 'output_tokens_details') ?? {}, 'thinking_tokens'),
      total_tokens: countField(usage, 'total_tokens'),
      cost: cost === undefined || cost === null || cost < 0 ? null : cost,
      model: model === '' ? null : model,
    }),
  };
}
