import type { OrderStore, OrderSubmission } from '../../orders/index.js';
import type { ExecutionRecord, InboxItem, IssueState, NewOutboxMessage, OrderRecord } from '../../records/index.js';
import { CANCELED_IN_QUEUE, checkSameOrder, needsWholeFolder, supersededBy } from '../queue-rules.js';
import { orderNotFound } from '../store-error.js';
import { QUEUE, formatRequestsKey } from '../wakers.js';
import { createOrderLists } from './lists.js';
import { addRun } from './runs.js';
import { checkOpen, closeOrder, copyValue, endRow, openItems, orderKey, readOrder } from './tables.js';
import type { Tables } from './tables.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(tables: Tables, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(tables),
    ...createSettleOrder(tables),
    ...createResolveItem(tables),
    ...createOrderLists(tables, searchWindow),
  };
}

/** Assigns run ids and queues the runs that carry the orders. */
function createSubmitOrder(tables: Tables): Pick<OrderStore, 'submitOrder'> {
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

/** Makes a new run the active one of its issue and requests cancellation of the run it replaces. */
function replaceRun(tables: Tables, submission: OrderSubmission, state: IssueState): OrderRecord {
  const { request, workerType, run, spec, now } = submission;
  const issueRef = request.issue_ref;
  const issue = tables.issues.get(issueRef);
  const number = (issue?.record.last_run_number ?? 0) + 1;
  const runId = submission.makeRunId(number);
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
    tables.wakers.wake(formatRequestsKey(replaced.record.id));
    if (replaced.record.state !== 'queued') continue;
    endRow(replaced, CANCELED_IN_QUEUE, now);
    closeOrder(tables, row, { settled_at: at, decision: null, result: null });
  }

  const record = {
    order: { ...copyValue(request), run_id: runId },
    run,
    worker_type: workerType,
    base_commit: submission.baseCommit ?? null,
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
      spec: copyValue(spec),
      order: { issue_ref: issueRef, run_id: runId },
      workerType,
      priority: request.priority ?? 0,
      isExclusive: needsWholeFolder(submission),
    },
    now,
  );
  return readOrder(tables, row);
}

/** Settles orders. */
function createSettleOrder(tables: Tables): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder({ issueRef, runId, now, runResult, active, stale }) {
      checkOpen(tables);
      const row = tables.orders.get(orderKey(issueRef, runId));
      const issue = tables.issues.get(issueRef);
      if (row === undefined || issue === undefined) throw orderNotFound(issueRef, runId);
      if (row.record.decision !== null) return { decision: copyValue(row.record.decision), repeated: true };

      const at = new Date(now).toISOString();
      const isActive = issue.record.active_run_id === runId;
      const { decision, result, execution } = isActive ? active : stale;
      closeOrder(tables, row, { settled_at: at, decision, result });
      const run = tables.runs.get(row.record.run);
      if (run !== undefined && run.record.state !== 'ended') endRow(run, runResult, now);
      addExecution(tables, execution);
      if (isActive) {
        const state = issue.record.state === 'needs-human' ? 'needs-human' : active.state;
        issue.record = { ...issue.record, state, updated_at: at };
        if (active.item !== null) addItem(tables, active.item);
        addMessages(tables, active.outbox, now);
      }
      tables.wakers.wake(QUEUE);
      return { decision: copyValue(decision), repeated: false };
    },
  };
}

/** Adds an execution; an existing row stays unchanged. */
function addExecution(tables: Tables, execution: ExecutionRecord): void {
  if (tables.executions.has(execution.id)) return;
  tables.executions.set(execution.id, { sequence: tables.executions.size + 1, record: copyValue(execution) });
}

/** Adds an item to the inbox; an existing one stays unchanged. */
function addItem(tables: Tables, item: InboxItem): void {
  if (tables.inbox.has(item.id)) return;
  tables.inbox.set(item.id, { sequence: tables.inbox.size + 1, record: copyValue(item) });
}

/** Queues messages; an existing one with the same sink, issue and trigger stays unchanged. */
function addMessages(tables: Tables, messages: readonly NewOutboxMessage[], now: number): void {
  for (const { id, sink, issue_ref, trigger, body } of messages) {
    const key = JSON.stringify([sink, issue_ref, trigger]);
    if (tables.outboxKeys.has(key)) continue;
    tables.outboxKeys.add(key);
    tables.outbox.set(id, {
      sequence: tables.outboxKeys.size,
      workerId: null,
      record: {
        id,
        sink,
        issue_ref,
        trigger,
        body,
        state: 'waiting',
        tries: 0,
        due_at: now,
        lease_until: null,
        last_error: null,
        delivered_to: null,
        created_at: new Date(now).toISOString(),
      },
    });
  }
}

/** Records the decisions of people. */
function createResolveItem(tables: Tables): Pick<OrderStore, 'resolveItem'> {
  return {
    async resolveItem({ id, now, resolution, state, execution, outbox, retry }) {
      checkOpen(tables);
      const row = tables.inbox.get(id);
      if (row === undefined) return { status: 'not_found' };
      const issue = tables.issues.get(row.record.issue_ref);
      const activeRunId = issue?.record.active_run_id ?? null;
      if (issue === undefined || row.record.resolution !== null || activeRunId !== row.record.run_id) {
        return { status: 'conflict', activeRunId, resolution: copyValue(row.record.resolution) };
      }

      const order = retry === undefined ? undefined : replaceRun(tables, { ...retry, now }, state);
      const recorded = copyValue(order === undefined ? resolution : { ...resolution, new_run_id: order.order.run_id });
      row.record = { ...row.record, resolution: recorded };
      const others = openItems(tables, row.record.issue_ref);
      if (order === undefined) {
        const next = others.length > 0 ? 'needs-human' : state;
        issue.record = { ...issue.record, state: next, updated_at: new Date(now).toISOString() };
      } else {
        for (const other of others) other.record = { ...other.record, resolution: recorded };
      }
      addExecution(tables, execution);
      addMessages(tables, outbox, now);
      tables.wakers.wake(QUEUE);
      const item = copyValue(row.record);
      return order === undefined ? { status: 'resolved', item } : { status: 'resolved', item, order };
    },
  };
}
