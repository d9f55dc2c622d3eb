import type { DecidedOrder, OrderStore, OrderSubmission, RaceConclusion, RaceEntry } from '../../orders/index.js';
import type {
  ExecutionRecord,
  InboxItem,
  IssueRecord,
  IssueState,
  NewOutboxMessage,
  OrderRecord,
  Resolution,
} from '../../records/index.js';
import {
  CANCELED_IN_QUEUE,
  checkSameOrder,
  nameOrders,
  queueOrder,
  createSuperseded,
  createSupersededByChoice,
} from '../queue-rules.js';
import type { StoredEntry, NamedOrder } from '../queue-rules.js';
import { createOrderNotFoundError } from '../store-error.js';
import { QUEUE, formatRequestsKey } from '../wakers.js';
import { createOrderLists } from './lists.js';
import { addRun } from './runs.js';
import {
  checkOpen,
  closeOrder,
  copyValue,
  endRow,
  formatOrderKey,
  listOpenItems,
  nextSequence,
  readOrder,
} from './tables.js';
import type { OrderRow, Row, Tables } from './tables.js';

/** Creates the store's methods for issues, orders, the inbox and executions. */
export function createOrders(tables: Tables, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(tables),
    ...createSettleOrder(tables),
    ...createResolveItem(tables),
    ...createOrderLists(tables, searchWindow),
  };
}

/** Creates `submitOrder`, which assigns run ids and queues the runs that execute the orders. */
function createSubmitOrder(tables: Tables): Pick<OrderStore, 'submitOrder'> {
  return {
    async submitOrder(submission) {
      checkOpen(tables);
      const { issue_ref: issueRef, request_id: requestId } = submission.request;
      const known = tables.orders.get(tables.orderKeysByRequest.get(requestId ?? '') ?? '');
      if (known !== undefined && requestId !== undefined) {
        checkSameOrder(known.record.order, submission.request);
        const rivals = listGroup(tables, known).filter((row) => row !== known);
        return {
          record: readOrder(tables, known),
          rivals: rivals.map((row) => readOrder(tables, row)),
          repeated: true,
        };
      }
      const [record, ...rivals] = replaceRun(tables, submission, 'doing');
      const resolution = createSuperseded(record.order.run_id, submission.now);
      for (const item of listOpenItems(tables, issueRef)) item.record = { ...item.record, resolution };
      tables.wakers.wake(QUEUE);
      return { record, rivals, repeated: false };
    },
  };
}

/** Activates a new run, or the runs of a race, in its issue, and requests cancellation of the run that it replaces. */
function replaceRun(tables: Tables, submission: OrderSubmission, state: IssueState): [OrderRecord, ...OrderRecord[]] {
  const { request, now } = submission;
  const issueRef = request.issue_ref;
  const issue = tables.issues.get(issueRef);
  const last = issue?.record.last_run_number ?? 0;
  const { orders, group } = nameOrders(submission, last + 1);
  const at = new Date(now).toISOString();

  tables.issues.set(issueRef, {
    sequence: issue?.sequence ?? nextSequence(tables, 'issues'),
    record: {
      issue_ref: issueRef,
      state,
      active_run_id: group === null ? orders[0].runId : null,
      ...(group === null ? {} : { active_group: group }),
      last_run_number: last + orders.length,
      updated_at: at,
    },
  });
  stopOthers(tables, issueRef, now);
  const [first, ...rivals] = orders;
  const add = (order: NamedOrder) => addOrder(tables, order, { group, baseCommit: submission.baseCommit ?? null, now });
  return [add(first), ...rivals.map(add)];
}

function stopOthers(tables: Tables, issueRef: string, now: number): void {
  const at = new Date(now).toISOString();
  for (const row of tables.openOrders) {
    if (row.record.order.issue_ref !== issueRef) continue;
    if (row.entry !== null) {
      writeDecision(tables, row, { ...row.entry.stale, item: null, outbox: [] }, now);
      continue;
    }
    const replaced = tables.runs.get(row.record.run);
    if (replaced === undefined) continue;
    replaced.record = { ...replaced.record, cancel_requested: true };
    tables.wakers.wake(formatRequestsKey(replaced.record.id));
    if (replaced.record.state !== 'queued') continue;
    endRow(replaced, CANCELED_IN_QUEUE, now);
    closeOrder(tables, row, { settled_at: at, decision: null, result: null });
  }
}

function addOrder(
  tables: Tables,
  added: NamedOrder,
  {
    group,
    baseCommit,
    now,
  }: { readonly group: string | null; readonly baseCommit: string | null; readonly now: number },
): OrderRecord {
  const { request, runId, run, spec } = added;
  const key = formatOrderKey(request.issue_ref, runId);
  const record = {
    order: { ...copyValue(request), run_id: runId },
    run,
    worker_type: added.workerType,
    base_commit: baseCommit,
    created_at: new Date(now).toISOString(),
    settled_at: null,
    decision: null,
    result: null,
    ...(group === null ? {} : { group }),
  };
  const row = { sequence: nextSequence(tables, 'orders'), record, entry: null };
  tables.orders.set(key, row);
  tables.openOrders.add(row);
  if (request.request_id !== undefined) tables.orderKeysByRequest.set(request.request_id, key);
  addRun(tables, { ...queueOrder(added), spec: copyValue(spec) }, now);
  return readOrder(tables, row);
}

/** Creates the command that settles orders. */
function createSettleOrder(tables: Tables): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder(settlement) {
      checkOpen(tables);
      const { issueRef, runId, now, runResult, active, stale, race } = settlement;
      const row = tables.orders.get(formatOrderKey(issueRef, runId));
      const issue = tables.issues.get(issueRef);
      if (row === undefined || issue === undefined) throw createOrderNotFoundError(issueRef, runId);
      if (row.record.decision !== null) return { decision: copyValue(row.record.decision), repeated: true };
      if (row.entry !== null) return { ...readEntered(tables, row, row.entry), repeated: true };

      tables.wakers.wake(QUEUE);
      const run = tables.runs.get(row.record.run);
      if (run !== undefined && run.record.state !== 'ended') endRow(run, runResult, now);
      if (race !== undefined && issue.record.active_group === race.group) {
        row.entry = copyValue({ entry: race.entry, stale });
        return concludeRace(tables, row, issue, row.entry, race.conclude, now);
      }
      const isActive = issue.record.active_run_id === runId;
      if (isActive) {
        const state = issue.record.state === 'needs-human' ? 'needs-human' : active.state;
        issue.record = { ...issue.record, state, updated_at: new Date(now).toISOString() };
      }
      const chosen = isActive ? active : { ...stale, item: null, outbox: [] };
      writeDecision(tables, row, chosen, now);
      return { decision: copyValue(chosen.decision), repeated: false };
    },
  };
}

function writeDecision(tables: Tables, row: OrderRow, decided: DecidedOrder, now: number): void {
  const { decision, result, execution, item, outbox } = decided;
  closeOrder(tables, row, { settled_at: new Date(now).toISOString(), decision, result });
  addExecution(tables, execution);
  if (item !== null) addItem(tables, item);
  addMessages(tables, outbox, now);
}

/** Lists the orders of a race, sorted by run; for an order without a race, only that order. */
function listGroup(tables: Tables, row: OrderRow): readonly OrderRow[] {
  const { group, order } = row.record;
  if (group === undefined) return [row];
  return [...tables.orders.values()].filter(
    ({ record }) => record.group === group && record.order.issue_ref === order.issue_ref,
  );
}

/** Returns a settlement's outcome in an undecided race. */
function readEntered(tables: Tables, row: OrderRow, { entry }: StoredEntry) {
  const open = listGroup(tables, row).filter((each) => each.entry === null);
  return { decision: copyValue(entry.execution.decision), waitsFor: open.map(({ record }) => record.order.run_id) };
}

/** Settles every order of a race once all runs have entered. */
function concludeRace(
  tables: Tables,
  row: OrderRow,
  issue: Row<IssueRecord>,
  stored: StoredEntry,
  conclude: (entries: readonly RaceEntry[]) => RaceConclusion,
  now: number,
) {
  const updated = { ...issue.record, updated_at: new Date(now).toISOString() };
  issue.record = updated;
  const group = listGroup(tables, row);
  const entries = group.flatMap(({ entry }) => (entry === null ? [] : [entry.entry]));
  if (entries.length < group.length) return { ...readEntered(tables, row, stored), repeated: false };
  const { winner, state, orders } = conclude(copyValue(entries));
  const { active_group: _, ...others } = updated;
  issue.record = winner === null ? { ...updated, state } : { ...others, state, active_run_id: winner };
  for (const decided of orders) {
    const each = group.find(({ record }) => record.order.run_id === decided.runId);
    if (each !== undefined) writeDecision(tables, each, decided, now);
  }
  return { decision: copyValue(row.record.decision ?? stored.entry.execution.decision), repeated: false };
}

/** Adds an execution; an existing row is not changed. */
function addExecution(tables: Tables, execution: ExecutionRecord): void {
  if (tables.executions.has(execution.id)) return;
  tables.executions.set(execution.id, { sequence: nextSequence(tables, 'executions'), record: copyValue(execution) });
}

/** Adds an item to the inbox; an existing item is not changed. */
function addItem(tables: Tables, item: InboxItem): void {
  if (tables.inbox.has(item.id)) return;
  tables.inbox.set(item.id, { sequence: nextSequence(tables, 'inbox'), record: copyValue(item) });
}

/** Queues messages; an existing message with the same sink, issue and trigger is not changed. */
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

/** Creates the command that records human decisions. */
function createResolveItem(tables: Tables): Pick<OrderStore, 'resolveItem'> {
  return {
    async resolveItem({ id, now, resolution, state, execution, outbox, retry }) {
      checkOpen(tables);
      const row = tables.inbox.get(id);
      if (row === undefined) return { status: 'not_found' };
      const issue = tables.issues.get(row.record.issue_ref);
      const activeRunId = issue?.record.active_run_id ?? null;
      const { group } = row.record;
      const isChoice = group !== undefined && issue?.record.active_group === group;
      if (issue === undefined || row.record.resolution !== null || (activeRunId !== row.record.run_id && !isChoice)) {
        return { status: 'conflict', activeRunId, resolution: copyValue(row.record.resolution) };
      }

      const [order] = retry === undefined ? [] : replaceRun(tables, { ...retry, now }, state);
      const recorded = copyValue(order === undefined ? resolution : { ...resolution, new_run_id: order.order.run_id });
      row.record = { ...row.record, resolution: recorded };
      if (isChoice && state === 'review') chooseResult(tables, issue, row.record, resolution);
      const others = listOpenItems(tables, row.record.issue_ref);
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

/** Activates the accepted run, and resolves the items of the race's other results. */
function chooseResult(
  tables: Tables,
  issue: Row<IssueRecord>,
  { run_id: runId, issue_ref: issueRef }: InboxItem,
  resolution: Resolution,
): void {
  const { active_group: _, ...record } = issue.record;
  issue.record = { ...record, active_run_id: runId };
  const superseded = createSupersededByChoice(runId, resolution);
  for (const item of listOpenItems(tables, issueRef)) item.record = { ...item.record, resolution: superseded };
}
