import { arrayOf, name, object, orNull } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { changeSchema } from './change.js';
import { decisionSchema } from './decision.js';
import { orderState } from './order-record.js';

/** The orders of a race with their changes, or a single order that is not part of a race. */
export const raceSchema = object({
  issue_ref: name,
  /** Null for an order that is not part of a race. */
  group: orNull(name),
  /** The run whose result counts; null until a run has won or a user has chosen one. */
  winner: orNull(name),
  runs: arrayOf(
    object({
      run_id: name,
      worker: name,
      state: orderState,
      decision: orNull(decisionSchema),
      /** The open inbox item for the order, or null. */
      inbox_id: orNull(name),
      change: changeSchema,
    }),
  ),
});

/** The orders of a race with their changes. */
export type Race = FromSchema<typeof raceSchema>;
