import type { IssueState, OrderRecord } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { checkSameOrder } from '../same-request.js';
import { storeSpec } from '../stored-spec.js';
import { StoreError } from '../store-error.js';
import { supersededBy } from '../superseded.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { readOrder } from './order-rows.js';
import { notifyRequests } from './notifications.js';
import { closeDigest, digestValues } from './run-rows.js';
import { addRun } from './runs.js';

/** Assigns run ids and queues the runs that carry the orders. */
export function createSubmitOrder({ database, queue }: Context): Pick<OrderStore, 'submitOrder'> {
  return {
    submitOrder: (submission) =>
      database.transaction(async (transaction) => {
        const { issue_ref: issueRef, request_id: requestId } = submission.request;
        if (requestId !== undefined) {
          const known = await findByRequest(transaction, requestId);
          if (known !== undefined) {
            checkSameOrder(known.order, submission.request);
            return { record: known, repeated: true };
          }
        }
        const record = await replaceRun(transaction, submission, 'doing');
        await transaction.query(`UPDATE sluice.inbox SET resolution = $2 WHERE issue_ref = $1 AND resolution IS NULL`, [
          issueRef,
          JSON.stringify(supersededBy(record.order.run_id, submission.now)),
        ]);
        await queue.announce(transaction, { kind: 'order', issue_ref: issueRef, run_id: record.order.run_id });
        return { record, repeated: false };
      }),
  };
}

/** Two who send the same request at the same moment go one after the other, so that the second finds the first. */
async function findByRequest(transaction: Queryable, requestId: string): Promise<OrderRecord | undefined> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`sluice request ${requestId}`]);
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE request_id = $1`, [requestId]);
  return rows[0] === undefined ? undefined : readOrder(rows[0]);
}

/**
 * Makes a new run the active one of its issue and asks those before it to stop. Its first statement locks the issue, so
 * that numbers are handed out one at a time.
 */
export async function replaceRun(
  transaction: Queryable,
  submission: OrderSubmission,
  state: IssueState,
): Promise<OrderRecord> {
  const { request, workerType, run, spec, runIdOf, now } = submission;
  const issueRef = request.issue_ref;
  const { rows: numbers } = await transaction.query(
    `INSERT INTO sluice.issues AS issue (issue_ref, state, last_run_number, updated_at)
     VALUES ($1, $2, 1, $3)
     ON CONFLICT (issue_ref) DO UPDATE
       SET state = $2, active_settled = false, last_run_number = issue.last_run_number + 1, updated_at = $3
     RETURNING last_run_number`,
    [issueRef, state, now],
  );
  const number = numbers[0]?.['last_run_number'];
  if (typeof number !== 'number') {
    throw new StoreError(
      'STORE_DAMAGED',
      'a run was counted and its number not given back: restore the database from a backup',
    );
  }

  const runId = runIdOf(number);
  await transaction.query(
    `WITH activated AS (
       UPDATE sluice.issues SET active_run_id = $2 WHERE issue_ref = $1
     ), replaced AS (
       UPDATE sluice.runs SET
         cancel_requested = true,
         ended_at = CASE WHEN state = 'queued' THEN $3 ELSE ended_at END,
         result = CASE WHEN state = 'queued' THEN $4 ELSE result END,
         state = CASE WHEN state = 'queued' THEN 'ended' ELSE state END
       WHERE id IN (SELECT run FROM sluice.orders WHERE issue_ref = $1 AND settled_at IS NULL) AND state <> 'ended'
       RETURNING id, seq, state, started_at, ended_at, ${notifyRequests('id')}
     ), counted AS (
       ${closeDigest(5, 'replaced')}
     )
     UPDATE sluice.orders SET settled_at = $3 FROM replaced WHERE run = replaced.id AND replaced.state = 'ended'`,
    [issueRef, runId, now, JSON.stringify(CANCELED_IN_QUEUE), ...digestValues(CANCELED_IN_QUEUE)],
  );
  await transaction.query(
    `INSERT INTO sluice.orders (issue_ref, run_id, run, request_id, work_order, worker_type, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [issueRef, runId, run, request.request_id ?? null, JSON.stringify({ ...request, run_id: runId }), workerType, now],
  );
  const queued = {
    id: run,
    spec,
    order: { issue_ref: issueRef, run_id: runId },
    workerType,
    priority: request.priority ?? 0,
    isExclusive: request.isolation !== 'worktree',
  };
  await addRun(transaction, queued, { stored: storeSpec(spec, 'queued'), requestId: null, now });
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE run = $1`, [run]);
  if (rows[0] === undefined) {
    throw new StoreError('STORE_DAMAGED', 'an order was written and not returned: restore the database from a backup');
  }
  return readOrder(rows[0]);
}
