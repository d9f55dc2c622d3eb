import type { IssueState, OrderRecord } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { checkSameOrder } from '../same-request.js';
import { supersededBy } from '../superseded.js';
import { QUEUE, requestsOf } from '../wakers.js';
import { addRun } from './runs.js';
import { checkOpen, closeOrder, copyOf, endRow, openItems, orderKey, readOrder, type Tables } from './tables.js';

/** Assigns run ids and queues the runs that carry the orders. */
export function createSubmitOrder(tables: Tables): Pick<OrderStore, 'submitOrder'> {
  return {
    async submitOrder(submission) {
      checkOpen(tables);
      const { issue_ref: issueRef, request_id: requestId } = submission.request;
      const known = tables.orders.get(tables.orderKeysByRequest.get(requestId ?? '') ?? '');
      if (known !== undefined && requestId !== undefined) {
        checkSameOrder(known.record.order, submission.request);
        return { record: readOrder(tables, known), repeated: true };
      }
      const record = replaceRun(tables, submission, 'doing');
      const resolution = supersededBy(record.order.run_id, submission.now);
      for (const item of openItems(tables, issueRef)) item.record = { ...item.record, resolution };
      tables.wakers.wake(QUEUE);
      return { record, repeated: false };
    },
  };
}

/** Makes a new run the active one of its issue and asks those before it to stop. */
export function replaceRun(tables: Tables, submission: OrderSubmission, state: IssueState): OrderRecord {
  const { request, workerType, run, spec, now } = submission;
  const issueRef = request.issue_ref;
  const issue = tables.issues.get(issueRef);
  const number = (issue?.record.last_run_number ?? 0) + 1;
  const runId = submission.runIdOf(number);
  const at = new Date(now).toISOString();

  tables.issues.set(issueRef, {
    sequence: issue?.sequence ?? tables.issues.size + 1,
    record: { issue_ref: issueRef, state, active_run_id: runId, last_run_number: number, updated_at: at },
  });
  for (const row of tables.openOrders) {
    if (row.record.order.issue_ref !== issueRef) continue;
    const replaced = tables.runs.get(row.record.run);
    if (replaced === undefined) continue;
    replaced.record = { ...replaced.record, cancel_requested: true };
    tables.wakers.wake(requestsOf(replaced.record.id));
    if (replaced.record.state !== 'queued') continue;
    endRow(replaced, CANCELED_IN_QUEUE, now);
    closeOrder(tables, row, { settled_at: at, decision: null, result: null });
  }

  const record = {
    order: { ...copyOf(request), run_id: runId },
    run,
    worker_type: workerType,
    created_at: at,
    settled_at: null,
    decision: null,
    result: null,
  };
  const row = { sequence: tables.orders.size + 1, record };
  tables.orders.set(orderKey(issueRef, runId), row);
  tables.openOrders.add(row);
  if (request.request_id !== undefined) tables.orderKeysByRequest.set(request.request_id, orderKey(issueRef, runId));
  addRun(
    tables,
    {
      id: run,
      spec: copyOf(spec),
      order: { issue_ref: issueRef, run_id: runId },
      workerType,
      priority: request.priority ?? 0,
      isExclusive: request.isolation !== 'worktree',
    },
    now,
  );
  return readOrder(tables, row);
}
