import type { ItemResolution, OrderStore, OrderSubmission, ResolveOutcome } from '../../orders/index.js';
import type {
  Decision,
  ExecutionRecord,
  InboxItem,
  IssueState,
  NewOutboxMessage,
  OrderRecord,
  Resolution,
  WorkOrder,
} from '../../records/index.js';
import { CANCELED_IN_QUEUE, checkSameOrder, needsWholeFolder, supersededBy } from '../queue-rules.js';
import { orderNotFound } from '../store-error.js';
import { QUEUE, formatRequestsKey } from '../wakers.js';
import type { Wakers } from '../wakers.js';
import { END_RUN, createRunDigests } from './claim-run.js';
import type { Database } from './database.js';
import { createOrderLists } from './lists.js';
import { readInteger, readItem, readJsonOrNull, readOrder, readText, readTextOrNull } from './rows.js';
import { createAddRun } from './runs.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(database: Database, wakers: Wakers, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(database, wakers),
    ...createSettleOrder(database, wakers),
    ...createResolveItem(database, wakers),
    ...createOrderLists(database, searchWindow),
  };
}

/** Assigns run ids and queues the runs that carry the orders. */
function createSubmitOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'submitOrder'> {
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

/** Makes a new run the active one of its issue and requests cancellation of the run it replaces; inside a transaction. */
function createReplaceRun(
  database: Database,
  wakers: Wakers,
): (submission: OrderSubmission, state: IssueState) => OrderRecord {
  const countRun = database.prepare(`
    INSERT INTO issues (issue_ref, state, last_run_number, updated_at) VALUES (?, ?, 1, ?)
    ON CONFLICT (issue_ref) DO UPDATE
      SET last_run_number = last_run_number + 1, state = excluded.state, updated_at = excluded.updated_at
    RETURNING last_run_number`);
  const activate = database.prepare('UPDATE issues SET active_run_id = ? WHERE issue_ref = ?');
  // Those before the last too: one that was claimed when it was replaced may be queued again.
  const findOpen = database.prepare(`
    SELECT run, runs.state FROM orders INDEXED BY orders_by_issue JOIN runs ON runs.id = run
    WHERE orders.issue_ref = ? AND settled_at IS NULL`);
  const requestCancel = database.prepare('UPDATE runs SET cancel_requested = 1 WHERE id = ?');
  const endRun = database.prepare(END_RUN);
  const cancelOrder = database.prepare('UPDATE orders SET settled_at = ? WHERE run = ?');
  const digests = createRunDigests(database);
  const addRun = createAddRun(database);
  const insert = database.prepare(`
    INSERT INTO orders (issue_ref, run_id, run, request_id, worker_type, work_order, base_commit, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const find = database.prepare('SELECT * FROM order_records WHERE run = ?');

  function stopOthers(issueRef: string, now: number): void {
    for (const open of findOpen.all(issueRef)) {
      const run = readText(open, 'run');
      requestCancel.run(run);
      wakers.wake(formatRequestsKey(run));
      if (open['state'] !== 'queued') continue;
      endRun.run(now, JSON.stringify(CANCELED_IN_QUEUE), run);
      digests.close(run, CANCELED_IN_QUEUE);
      cancelOrder.run(now, run);
    }
  }

  return (submission, state) => {
    const { request, workerType, run, spec, makeRunId, baseCommit = null, now } = submission;
    const issueRef = request.issue_ref;
    const counted = countRun.get(issueRef, state, now) ?? {};
    const runId = makeRunId(readInteger(counted, 'last_run_number'));
    activate.run(runId, issueRef);
    stopOthers(issueRef, now);
    const order: WorkOrder = { ...request, run_id: runId };
    insert.run(issueRef, runId, run, request.request_id ?? null, workerType, JSON.stringify(order), baseCommit, now);
    const queued = {
      id: run,
      spec,
      order: { issue_ref: issueRef, run_id: runId },
      workerType,
      priority: request.priority ?? 0,
      isExclusive: needsWholeFolder(submission),
    };
    addRun(queued, now);
    return readOrder(find.get(run) ?? {});
  };
}

/** Rolls back a settlement, because the order has already been decided. */
class DecidedBefore extends Error {}

/** Settles orders. */
function createSettleOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'settleOrder'> {
  const fence = database.prepare(SETTLE_FENCE);
  const settle = database.prepare(SETTLE_ORDER);
  const findDecision = database.prepare('SELECT decision FROM orders WHERE issue_ref = ? AND run_id = ?');
  const endRun = database.prepare(END_RUN);
  const digests = createRunDigests(database);
  const rows = createDecisionRows(database);

  return {
    async settleOrder({ issueRef, runId, now, runResult, active, stale }) {
      try {
        const decision = await database.write(() => {
          const isActive = Number(fence.run(active.state, now, issueRef, runId).changes) === 1;
          const chosen = isActive ? active : stale;
          const result = chosen.result === null ? null : JSON.stringify(chosen.result);
          const settled = settle.get(JSON.stringify(chosen.decision), result, now, issueRef, runId);
          if (settled === undefined) throw new DecidedBefore();
          const run = readText(settled, 'run');
          if (Number(endRun.run(now, JSON.stringify(runResult), run).changes) === 1) digests.close(run, runResult);
          rows.addExecution(chosen.execution);
          if (isActive) {
            if (active.item !== null) rows.addItem(active.item);
            for (const message of active.outbox) rows.addMessage(message, now);
          }
          return chosen.decision;
        });
        wakers.wake(QUEUE);
        return { decision, repeated: false };
      } catch (error) {
        if (!(error instanceof DecidedBefore)) throw error;
      }
      const row = await database.read(() => findDecision.get(issueRef, runId));
      const decision = row === undefined ? null : (readJsonOrNull(row, 'decision') as Decision | null);
      if (decision === null) throw orderNotFound(issueRef, runId);
      return { decision, repeated: true };
    },
  };
}

/** The first statement: only the active run changes its issue's state, and only a person changes `needs-human`. */
export const SETTLE_FENCE = `
  UPDATE issues SET state = CASE state WHEN 'needs-human' THEN state ELSE ? END, updated_at = ?
  WHERE issue_ref = ? AND active_run_id = ?`;

/** The second: an order is decided once. */
export const SETTLE_ORDER = `
  UPDATE orders SET decision = ?, result = ?, settled_at = ?
  WHERE issue_ref = ? AND run_id = ? AND decision IS NULL RETURNING run`;

const ADD_EXECUTION = `
  INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;

const ADD_ITEM = `
  INSERT INTO inbox (id, issue_ref, run_id, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const ADD_MESSAGE = `
  INSERT INTO outbox (id, sink, issue_ref, trigger_key, body, state, due_at, created_at)
  VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?) ON CONFLICT DO NOTHING`;

/** Inserts the rows that follow from a decision, inside a transaction; existing rows stay unchanged. */
function createDecisionRows(database: Database): {
  addExecution(execution: ExecutionRecord): void;
  addItem(item: InboxItem): void;
  addMessage(message: NewOutboxMessage, now: number): void;
} {
  const execution = database.prepare(ADD_EXECUTION);
  const item = database.prepare(ADD_ITEM);
  const message = database.prepare(ADD_MESSAGE);
  return {
    addExecution(added) {
      const { id, issue_ref: issueRef, run_id: runId, worker, decision, at } = added;
      execution.run(id, issueRef, runId, worker, decision, at, JSON.stringify(added));
    },
    addItem(added) {
      item.run(added.id, added.issue_ref, added.run_id, JSON.stringify(added));
    },
    addMessage({ id, sink, issue_ref: issueRef, trigger, body }, now) {
      message.run(id, sink, issueRef, trigger, JSON.stringify(body), now, now);
    },
  };
}

/** Records the decisions of people. */
function createResolveItem(database: Database, wakers: Wakers): Pick<OrderStore, 'resolveItem'> {
  const findItem = database.prepare('SELECT * FROM inbox WHERE id = ?');
  const findActive = database.prepare('SELECT active_run_id FROM issues WHERE issue_ref = ?');
  const resolveOne = database.prepare('UPDATE inbox SET resolution = ? WHERE id = ?');
  const resolveOpen = database.prepare('UPDATE inbox SET resolution = ? WHERE issue_ref = ? AND resolution IS NULL');
  const move = database.prepare(`
    UPDATE issues SET updated_at = ?, state = CASE
      WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.issue_ref = issues.issue_ref AND resolution IS NULL)
      THEN 'needs-human' ELSE ? END
    WHERE issue_ref = ?`);
  const replaceRun = createReplaceRun(database, wakers);
  const rows = createDecisionRows(database);

  function resolve({ id, now, resolution, state, execution, outbox, retry }: ItemResolution): ResolveOutcome {
    const row = findItem.get(id);
    if (row === undefined) return { status: 'not_found' };
    const item = readItem(row);
    const active = findActive.get(item.issue_ref);
    const activeRunId = active === undefined ? null : readTextOrNull(active, 'active_run_id');
    if (item.resolution !== null || activeRunId !== item.run_id) {
      return { status: 'conflict', activeRunId, resolution: item.resolution };
    }

    rows.addExecution(execution);
    for (const message of outbox) rows.addMessage(message, now);
    if (retry === undefined) {
      resolveOne.run(JSON.stringify(resolution), id);
      move.run(now, state, item.issue_ref);
      return { status: 'resolved', item: { ...item, resolution } };
    }
    const order = replaceRun({ ...retry, now }, state);
    const recorded: Resolution = { ...resolution, new_run_id: order.order.run_id };
    resolveOpen.run(JSON.stringify(recorded), item.issue_ref);
    return { status: 'resolved', item: { ...item, resolution: recorded }, order };
  }

  return {
    async resolveItem(resolution) {
      const outcome = await database.write(() => resolve(resolution));
      wakers.wake(QUEUE);
      return outcome;
    },
  };
}
