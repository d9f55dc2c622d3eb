import type { IssueState, OrderRecord } from '../../records/index.js';
import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import { checkSameOrder } from '../same-request.js';
import { supersededBy } from '../superseded.js';
import { QUEUE } from '../wakers.js';
import { checkOpen, copyOf, openItems, orderKey, replaceOrder, type Tables } from './tables.js';

/** Hands out run ids. */
export function createSubmitOrder(tables: Tables): Pick<OrderStore, 'submitOrder'> {
  return {
    async submitOrder(submission) {
      checkOpen(tables);
      const { issue_ref: issueRef, request_id: requestId } = submission.request;
      const known = tables.orders.get(tables.orderKeysByRequest.get(requestId ?? '') ?? '');
      if (known !== undefined && requestId !== undefined) {
        checkSameOrder(known.record.order, submission.request);
        return { record: copyOf(known.record), repeated: true };
      }
      const record = replaceRun(tables, submission, 'doing');
      const resolution = supersededBy(record.order.run_id, submission.now);
      for (const item of openItems(tables, issueRef)) item.record = { ...item.record, resolution };
      tables.wakers.wake(QUEUE);
      return { record: copyOf(record), repeated: false };
    },
  };
}

/** Makes a new run the active one of its issue and asks those before it to stop. */
export function replaceRun(tables: Tables, submission: OrderSubmission, state: IssueState): OrderRecord {
  const { request, workerType, run, now } = submission;
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
    if (row.record.state === 'queued') replaceOrder(tables, row, { state: 'canceled', settled_at: at });
    else replaceOrder(tables, row, { cancel_requested: true });
  }

  const record: OrderRecord = {
    order: { ...copyOf(request), run_id: runId },
    run,
    worker_type: workerType,
    state: 'queued',
    owner: null,
    lease_until: null,
    cancel_requested: false,
    created_at: at,
    started_at: null,
    settled_at: null,
    decision: null,
    result: null,
  };
  const row = { sequence: tables.orders.size + 1, record };
  tables.orders.set(orderKey(issueRef, runId), row);
  tables.openOrders.add(row);
  if (request.request_id !== undefined) tables.orderKeysByRequest.set(request.request_id, orderKey(issueRef, runId));
  return record;
}
