import { name, object, oneOf, orNull, timestamp, count } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { decisionSchema } from './decision.js';
import { workOrder } from './work-order.js';
import { workResult } from './work-result.js';

/** The state of an issue. `needs-human` takes precedence: only a human decision ends it. */
export const issueState = oneOf(['todo', 'doing', 'review', 'blocked', 'needs-human', 'done']);

/** One issue. Updates apply only if `active_run_id` or `active_group` still has the expected value. */
export const issueSchema = object(
  {
    issue_ref: name,
    state: issueState,
    /** The run whose result counts, until another run replaces it. Null while a race is undecided. */
    active_run_id: orNull(name),
    /** The last run number assigned; never reset. */
    last_run_number: count,
    updated_at: timestamp,
  },
  {
    /** The undecided race, named by the run id of its first run; absent once a run has won or a user has chosen one. */
    active_group: name,
  },
);

/** See {@link issueState}. */
export type IssueState = FromSchema<typeof issueState>;

/** One issue. */
export type IssueRecord = FromSchema<typeof issueSchema>;

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
