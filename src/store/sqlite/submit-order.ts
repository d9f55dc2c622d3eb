import type { IssueState, OrderRecord, WorkOrder } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { checkSameOrder } from '../same-request.js';
import { supersededBy } from '../superseded.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import { readOrder } from './order-row.js';
import { readInteger, readTextOrNull } from './row-reader.js';

/** Hands out run ids. */
export function createSubmitOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'submitOrder'> {
  const replaceRun = createReplaceRun(database);
  const findRequest = database.prepare('SELECT * FROM orders WHERE request_id = ?');
  const supersede = database.prepare('UPDATE inbox SET resolution = ? WHERE issue_ref = ? AND resolution IS NULL');
  return {
    async submitOrder(submission) {
      const { issue_ref: issueRef, request_id: requestId } = submission.request;
      const submitted = await database.write(() => {
        const row = requestId === undefined ? undefined : findRequest.get(requestId);
        if (row !== undefined) {
          const record = readOrder(row);
          checkSameOrder(record.order, submission.request);
          return { record, repeated: true };
        }
        const record = replaceRun(submission, 'doing');
        supersede.run(JSON.stringify(supersededBy(record.order.run_id, submission.now)), issueRef);
        return { record, repeated: false };
      });
      wakers.wake(QUEUE);
      return submitted;
    },
  };
}

/** Makes a new run the active one of its issue and asks those before it to stop; inside a transaction. */
export function createReplaceRun(database: Database): (submission: OrderSubmission, state: IssueState) => OrderRecord {
  const countRun = database.prepare(`
    INSERT INTO issues (issue_ref, state, last_run_number, updated_at) VALUES (?, ?, 1, ?)
    ON CONFLICT (issue_ref) DO UPDATE
      SET last_run_number = last_run_number + 1, state = excluded.state, updated_at = excluded.updated_at
    RETURNING last_run_number, active_run_id`);
  const activate = database.prepare('UPDATE issues SET active_run_id = ? WHERE issue_ref = ?');
  // The run before the last was asked when the last one replaced it.
  const stopLast = database.prepare(`
    UPDATE orders SET
      cancel_requested = CASE state WHEN 'queued' THEN 0 ELSE 1 END,
      settled_at = CASE state WHEN 'queued' THEN ? END,
      state = CASE state WHEN 'queued' THEN 'canceled' ELSE state END
    WHERE issue_ref = ? AND run_id = ? AND state IN ('queued', 'claimed', 'running')`);
  const insert = database.prepare(`
    INSERT INTO orders (issue_ref, run_id, run_ulid, request_id, worker_type, repo_dir, isolation, priority, work_order, state, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?) RETURNING *`);
  return ({ request, workerType, run, runIdOf, now }, state) => {
    const issueRef = request.issue_ref;
    const counted = countRun.get(issueRef, state, now) ?? {};
    const runId = runIdOf(readInteger(counted, 'last_run_number'));
    activate.run(runId, issueRef);
    stopLast.run(now, issueRef, readTextOrNull(counted, 'active_run_id'));
    const order: WorkOrder = { ...request, run_id: runId };
    const row = insert.get(
      issueRef,
      runId,
      run,
      request.request_id ?? null,
      workerType,
      request.repo_dir,
      request.isolation ?? 'repository',
      request.priority ?? 0,
      JSON.stringify(order),
      now,
    );
    return readOrder(row ?? {});
  };
}
