import type { IssueState, OrderRecord, WorkOrder } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { checkSameOrder } from '../same-request.js';
import { supersededBy } from '../superseded.js';
import { storeSpec } from '../stored-spec.js';
import { QUEUE, requestsOf, type Wakers } from '../wakers.js';
import { END_RUN } from './claim-run.js';
import type { Database } from './database.js';
import { readOrder } from './order-row.js';
import { readInteger, readText, readTextOrNull } from './row-reader.js';
import { createRunDigests } from './run-digests.js';
import { createAddRun } from './runs.js';

/** Assigns run ids and queues the runs that carry the orders. */
export function createSubmitOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'submitOrder'> {
  const replaceRun = createReplaceRun(database, wakers);
  const findRequest = database.prepare('SELECT * FROM order_records WHERE request_id = ?');
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
export function createReplaceRun(
  database: Database,
  wakers: Wakers,
): (submission: OrderSubmission, state: IssueState) => OrderRecord {
  const countRun = database.prepare(`
    INSERT INTO issues (issue_ref, state, last_run_number, updated_at) VALUES (?, ?, 1, ?)
    ON CONFLICT (issue_ref) DO UPDATE
      SET last_run_number = last_run_number + 1, state = excluded.state, updated_at = excluded.updated_at
    RETURNING last_run_number, active_run_id`);
  const activate = database.prepare('UPDATE issues SET active_run_id = ? WHERE issue_ref = ?');
  // The run before the last was asked when the last one replaced it.
  const findLast = database.prepare(`
    SELECT run, runs.state FROM orders JOIN runs ON runs.id = run
    WHERE orders.issue_ref = ? AND orders.run_id = ? AND settled_at IS NULL`);
  const requestCancel = database.prepare('UPDATE runs SET cancel_requested = 1 WHERE id = ?');
  const endRun = database.prepare(END_RUN);
  const cancelOrder = database.prepare('UPDATE orders SET settled_at = ? WHERE run = ?');
  const digests = createRunDigests(database);
  const addRun = createAddRun(database);
  const insert = database.prepare(`
    INSERT INTO orders (issue_ref, run_id, run, request_id, worker_type, work_order, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const find = database.prepare('SELECT * FROM order_records WHERE run = ?');

  function stop(issueRef: string, runId: string | null, now: number): void {
    const last = findLast.get(issueRef, runId);
    if (last === undefined) return;
    const run = readText(last, 'run');
    requestCancel.run(run);
    wakers.wake(requestsOf(run));
    if (last['state'] !== 'queued') return;
    endRun.run(now, JSON.stringify(CANCELED_IN_QUEUE), run);
    digests.close(run, CANCELED_IN_QUEUE);
    cancelOrder.run(now, run);
  }

  return ({ request, workerType, run, spec, runIdOf, now }, state) => {
    const issueRef = request.issue_ref;
    const counted = countRun.get(issueRef, state, now) ?? {};
    const runId = runIdOf(readInteger(counted, 'last_run_number'));
    activate.run(runId, issueRef);
    stop(issueRef, readTextOrNull(counted, 'active_run_id'), now);
    const order: WorkOrder = { ...request, run_id: runId };
    insert.run(issueRef, runId, run, request.request_id ?? null, workerType, JSON.stringify(order), now);
    const queued = {
      id: run,
      spec,
      order: { issue_ref: issueRef, run_id: runId },
      workerType,
      priority: request.priority ?? 0,
      isExclusive: request.isolation !== 'worktree',
    };
    addRun(queued, storeSpec(spec, 'queued'), now);
    return readOrder(find.get(run) ?? {});
  };
}
