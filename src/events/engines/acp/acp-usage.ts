import type { Usage } from '../../protocol/event-parts.js';
import { countField, numberField } from '../../reading/record-fields.js';

/** Tokens as agents count them. `inputTokens` of some includes what came from the cache, of others not: it is kept as it is. */
export function readUsage(usage: object | null, scope: Usage['scope']): Usage | null {
  const input = usage === null ? null : countField(usage, 'inputTokens');
  const output = usage === null ? null : countField(usage, 'outputTokens');
  if (usage === null || input === null || output === null) return null;
  const cached = countField(usage, 'cachedReadTokens');
  const written = countField(usage, 'cachedWriteTokens');
  const thought = countField(usage, 'thoughtTokens');
  const total = countField(usage, 'totalTokens');
  const cost = numberField(usage, 'cost');
  return {
    scope,
    input_tokens: input,
    output_tokens: output,
    ...(cached === null ? undefined : { cached_input_tokens: cached }),
    ...(written === null ? undefined : { cache_write_tokens: written }),
    ...(thought === null ? undefined : { reasoning_tokens: thought }),
    ...(total === null ? undefined : { total_tokens: total }),
    ...(cost === null || cost < 0 ? undefined : { cost }),
  };
}
