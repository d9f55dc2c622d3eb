import type { Usage } from '../../protocol/usage.js';
import { omitMissing } from '../../reading/omit-missing.js';
import { countField, isRecord, numberField, objectField } from '../../reading/record-fields.js';
import { readUsage } from '../claude-shape/usage.js';
import type { Report } from '../report.js';
import { CLAUDE_TABLES } from './records.js';

/**
 * The tokens and the cost of the session so far. `usage` of a result counts this invocation alone, `modelUsage` and
 * `total_cost_usd` count the whole session, also over resumed attempts.
 */
export function claudeTotalUsage(result: object, report: Report): Usage | null {
  const usage = objectField(result, 'usage');
  if (usage !== null) report.checkFields(usage, CLAUDE_TABLES.usage, 'usage');
  const cost = numberField(result, 'total_cost_usd');
  const models: readonly [string, unknown][] = Object.entries(objectField(result, 'modelUsage') ?? {});
  if (models.length === 0) return readUsage(usage, { scope: 'total', inputIncludesCache: false, cost });
  const counts = models.map(([, model]) => model).filter(isRecord);
  const sum = (key: string): number => counts.reduce((total, model) => total + (countField(model, key) ?? 0), 0);
  const cached = sum('cacheReadInputTokens');
  const written = sum('cacheCreationInputTokens');
  return {
    scope: 'total',
    input_tokens: sum('inputTokens') + cached + written,
    output_tokens: sum('outputTokens'),
    cached_input_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens: sum('thinkingTokens'),
    ...omitMissing({
      cost: cost === null || cost < 0 ? null : cost,
      model: onlyName(models),
    }),
  };
}

/** The one model there is; null if there are several, or it has no name. */
function onlyName([first, ...others]: readonly [string, unknown][]): string | null {
  return first === undefined || others.length > 0 || first[0] === '' ? null : first[0];
}
