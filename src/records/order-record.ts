import { name, object, oneOf, orNull, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { decisionSchema } from './decision.js';
import { workOrder } from './work-order.js';
import { workResult } from './work-result.js';

/** The state of an order. `canceled`: another run replaced it before it was claimed. */
export const orderState = oneOf(['queued', 'running', 'settled', 'canceled']);

/** One order; issue and run id together name it. Claim, lease and cancellation are its run's. */
export const orderRecordSchema = object(
  {
    order: workOrder,
    /** The run that carries the order; names the run folder. */
    run: name,
    worker_type: name,
    state: orderState,
    /** The commit the repository stood at when the work began; a retry has that of the order it repeats. Null before the start and without a repository. */
    base_commit: orNull(name),
    created_at: timestamp,
    started_at: orNull(timestamp),
    settled_at: orNull(timestamp),
    decision: orNull(decisionSchema),
    /** The worker's report at settlement; null if none could be read. */
    result: orNull(workResult),
  },
  {
    /** The race it takes part in, by the run id of the race's first run. */
    group: name,
  },
);

/** See {@link orderState}. */
export type OrderState = FromSchema<typeof orderState>;

/** One order, as the store keeps it. */
export type OrderRecord = FromSchema<typeof orderRecordSchema>;
