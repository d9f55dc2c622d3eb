import type { Usage } from '../../protocol/event-parts.js';
import { getCount, getNumber } from '../../reading/record-fields.js';

/**
 * Reads the token counts that an agent reports. `inputTokens` includes cached tokens for some agents only; it is not
 * adjusted.
 */
export function readUsage(usage: object | null, scope: Usage['scope']): Usage | null {
  const input = usage === null ? null : getCount(usage, 'inputTokens');
  const output = usage === null ? null : getCount(usage, 'outputTokens');
  if (usage === null || input === null || output === null) return null;
  const cacheRead = getCount(usage, 'cachedReadTokens');
  const cacheWrite = getCount(usage, 'cachedWriteTokens');
  const reasoning = getCount(usage, 'thoughtTokens');
  const total = getCount(usage, 'totalTokens');
  const cost = getNumber(usage, 'cost');
  return {
    scope,
    input_tokens: input,
    output_tokens: output,
    ...(cacheRead === null ? undefined : { cached_input_tokens: cacheRead }),
    ...(cacheWrite === null ? undefined : { cache_write_tokens: cacheWrite }),
    ...(reasoning === null ? undefined : { reasoning_tokens: reasoning }),
    ...(total === null ? undefined : { total_tokens: total }),
    ...(cost === null || cost < 0 ? undefined : { cost }),
  };
}
