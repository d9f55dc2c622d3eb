import { count, name, object, oneOf } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/**
 * Tokens and money. `scope` says of what: one `turn`, or the `total` so far, which is that of the session if the engine
 * counts it and otherwise that of the attempt. `input_tokens` includes what came from a cache; `cost` is in US dollars as the engine reports it.
 */
export const usageSchema = object(
  {
    scope: oneOf(['turn', 'total']),
    input_tokens: count,
    output_tokens: count,
  },
  {
    cached_input_tokens: count,
    cache_write_tokens: count,
    reasoning_tokens: count,
    total_tokens: count,
    cost: { type: 'number', minimum: 0 },
    model: name,
  },
);

/** Tokens and cost, of a turn or so far. */
export type Usage = FromSchema<typeof usageSchema>;
