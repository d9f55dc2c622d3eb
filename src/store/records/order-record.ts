import { name, object, oneOf, orNull, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { decisionSchema } from './decision.js';
import { workOrder } from './work-order.js';
import { workResult } from './work-result.js';

/** The state of an order. `canceled`: another run replaced it before it was claimed. */
export const orderState = oneOf(['queued', 'running', 'settled', 'canceled']);

/** One order, identified by issue and run id. The run record has its claim, lease and cancellation. */
export const orderRecordSchema = object(
  {
    order: workOrder,
    /** The id of the run that executes the order, and of its run folder. */
    run: name,
    worker_type: name,
    state: orderState,
    /**
     * The commit that was checked out when the work started; a retry keeps the original order's commit. Null before the
     * start and without a repository.
     */
    base_commit: orNull(name),
    created_at: timestamp,
    started_at: orNull(timestamp),
    settled_at: orNull(timestamp),
    decision: orNull(decisionSchema),
    /** The agent's report when the order was settled; null if it could not be read. */
    result: orNull(workResult),
  },
  {
    /** The race the order takes part in, named by the run id of its first run. */
    group: name,
  },
);

/** See {@link orderState}. */
export type OrderState = FromSchema<typeof orderState>;

/** One stored order. */
export type OrderRecord = FromSchema<typeof orderRecordSchema>;
