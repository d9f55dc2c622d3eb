import type { IssueState, OrderRecord } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { checkSameOrder } from '../same-request.js';
import { StoreError } from '../store-error.js';
import { supersededBy } from '../superseded.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { readOrder } from './order-rows.js';
import { NOTIFY_QUEUE } from './queue.js';

/** Hands out run ids. */
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
  const { rows } = await transaction.query(`SELECT * FROM sluice.orders WHERE request_id = $1`, [requestId]);
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
  const { request, workerType, run, runIdOf, now } = submission;
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
  const { rows } = await transaction.query(
    `WITH activated AS (
       UPDATE sluice.issues SET active_run_id = $2 WHERE issue_ref = $1
     ), replaced AS (
       UPDATE sluice.orders SET
         cancel_requested = cancel_requested OR state <> 'queued',
         settled_at = CASE WHEN state = 'queued' THEN $3 ELSE settled_at END,
         state = CASE WHEN state = 'queued' THEN 'canceled' ELSE state END
       WHERE issue_ref = $1 AND state IN ('queued', 'claimed', 'running')
     )
     INSERT INTO sluice.orders
       (issue_ref, run_id, run_ulid, request_id, work_order, worker_type, repo_dir, isolation, priority, state, created_at)
     VALUES ($1, $2, $4, $5, $6, $7, $8, $9, $10, 'queued', $3)
     RETURNING *, ${NOTIFY_QUEUE}`,
    [
      issueRef,
      runId,
      now,
      run,
      request.request_id ?? null,
      JSON.stringify({ ...request, run_id: runId }),
      workerType,
      request.repo_dir,
      request.isolation ?? 'repository',
      request.priority ?? 0,
    ],
  );
  if (rows[0] === undefined) {
    throw new StoreError(
      'STORE_DAMAGED',
      'an order was written and not given back: restore the database from a backup',
    );
  }
  return readOrder(rows[0]);
}
