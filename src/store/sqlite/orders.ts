import type {
  DecidedOrder,
  ItemResolution,
  OrderSettlement,
  OrderStore,
  OrderSubmission,
  ResolveOutcome,
} from '../../orders/index.js';
import type {
  Decision,
  ExecutionRecord,
  IssueState,
  NewOutboxMessage,
  OrderRecord,
  Resolution,
  WorkOrder,
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
import type { Wakers } from '../wakers.js';
import { END_RUN, createRunDigests } from './claim-run.js';
import type { Database } from './database.js';
import { createOrderLists } from './lists.js';
import { readInteger, readItem, readJson, readJsonOrNull, readOrder, readText, readTextOrNull } from './rows.js';
import { createAddRun } from './runs.js';

/** Creates the store's methods for issues, orders, the inbox and executions. */
export function createOrders(database: Database, wakers: Wakers, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(database, wakers),
    ...createSettleOrder(database, wakers),
    ...createResolveItem(database, wakers),
    ...createOrderLists(database, searchWindow),
  };
}

/** Creates `submitOrder`, which assigns run ids and queues the runs that execute the orders. */
function createSubmitOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'submitOrder'> {
  const replaceRun = createReplaceRun(database, wakers);
  const findRequest = database.prepare('SELECT * FROM order_records WHERE request_id = ?');
  const findGroup = database.prepare(
    'SELECT * FROM order_records WHERE issue_ref = ? AND race_group = ? ORDER BY sequence',
  );
  const supersede = database.prepare('UPDATE inbox SET resolution = ? WHERE issue_ref = ? AND resolution IS NULL');
  const findRivals = ({ group, order, run }: OrderRecord): readonly OrderRecord[] =>
    group === undefined
      ? []
      : findGroup
          .all(order.issue_ref, group)
          .map(readOrder)
          .filter((other) => other.run !== run);
  return {
    async submitOrder(submission) {
      const { issue_ref: issueRef, request_id: requestId } = submission.request;
      const submitted = await database.write(() => {
        const row = requestId === undefined ? undefined : findRequest.get(requestId);
        if (row !== undefined) {
          const record = readOrder(row);
          checkSameOrder(record.order, submission.request);
          return { record, rivals: findRivals(record), repeated: true };
        }
        const [record, ...rivals] = replaceRun(submission, 'doing');
        supersede.run(JSON.stringify(createSuperseded(record.order.run_id, submission.now)), issueRef);
        return { record, rivals, repeated: false };
      });
      wakers.wake(QUEUE);
      return submitted;
    },
  };
}

/**
 * Creates a function that activates a new run, or the runs of a race, in its issue, and requests cancellation of the
 * run that it replaces. It must be called inside a transaction.
 */
function createReplaceRun(
  database: Database,
  wakers: Wakers,
): (submission: OrderSubmission, state: IssueState) => [OrderRecord, ...OrderRecord[]] {
  const reserveRunNumbers = database.prepare(`
    INSERT INTO issues (issue_ref, state, last_run_number, updated_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (issue_ref) DO UPDATE
      SET last_run_number = last_run_number + ?3, state = ?2, updated_at = ?4
    RETURNING last_run_number`);
  const activate = database.prepare('UPDATE issues SET active_run_id = ?, active_group = ? WHERE issue_ref = ?');
  // Also earlier orders: an order that was claimed when it was replaced can be queued again.
  const findOpen = database.prepare(`
    SELECT run, run_id, entry, runs.state FROM orders INDEXED BY orders_by_issue JOIN runs ON runs.id = run
    WHERE orders.issue_ref = ? AND settled_at IS NULL`);
  const requestCancel = database.prepare('UPDATE runs SET cancel_requested = 1 WHERE id = ?');
  const endRun = database.prepare(END_RUN);
  const cancelOrder = database.prepare('UPDATE orders SET settled_at = ? WHERE run = ?');
  const digests = createRunDigests(database);
  const addRun = createAddRun(database);
  const rows = createDecisionRows(database);
  const insert = database.prepare(`
    INSERT INTO orders (issue_ref, run_id, run, request_id, worker_type, work_order, base_commit, race_group, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const find = database.prepare('SELECT * FROM order_records WHERE run = ?');

  function stopOthers(issueRef: string, now: number): void {
    for (const open of findOpen.all(issueRef)) {
      const run = readText(open, 'run');
      if (open['entry'] !== null) {
        const { stale } = readJson(open, 'entry') as StoredEntry;
        rows.decide({ issueRef, runId: readText(open, 'run_id'), now }, stale);
        continue;
      }
      requestCancel.run(run);
      wakers.wake(formatRequestsKey(run));
      if (open['state'] !== 'queued') continue;
      endRun.run(now, JSON.stringify(CANCELED_IN_QUEUE), run);
      digests.close(run, CANCELED_IN_QUEUE);
      cancelOrder.run(now, run);
    }
  }

  return (submission, state) => {
    const { baseCommit = null, now } = submission;
    const issueRef = submission.request.issue_ref;
    const count = 1 + (submission.rivals ?? []).length;
    const reserved = reserveRunNumbers.get(issueRef, state, count, now) ?? {};
    const { orders, group } = nameOrders(submission, readInteger(reserved, 'last_run_number') - count + 1);
    const [first, ...rivals] = orders;
    activate.run(group === null ? first.runId : null, group, issueRef);
    stopOthers(issueRef, now);
    const add = (added: NamedOrder): OrderRecord => {
      const { request, workerType, run, runId } = added;
      const order = JSON.stringify({ ...request, run_id: runId } satisfies WorkOrder);
      insert.run(issueRef, runId, run, request.request_id ?? null, workerType, order, baseCommit, group, now);
      addRun(queueOrder(added), now);
      return readOrder(find.get(run) ?? {});
    };
    return [add(first), ...rivals.map(add)];
  };
}

/** Thrown to roll back a settlement because the order has already been decided. */
class AlreadyDecided extends Error {}

/** Creates the command that settles orders. */
function createSettleOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'settleOrder'> {
  const guardActive = database.prepare(GUARD_ACTIVE_RUN);
  const guardRace = database.prepare(GUARD_RACE);
  const enter = database.prepare(ENTER_RACE);
  const activate = database.prepare(`
    UPDATE issues SET state = ?1, active_run_id = ?2, active_group = CASE WHEN ?2 IS NULL THEN active_group END
    WHERE issue_ref = ?3`);
  const find = database.prepare(
    'SELECT run, decision, entry, race_group FROM orders WHERE issue_ref = ? AND run_id = ?',
  );
  const findRuns = database.prepare('SELECT run FROM orders WHERE issue_ref = ? AND race_group = ?');
  const findEntries = database.prepare(`
    SELECT run_id, entry FROM orders WHERE issue_ref = ? AND race_group = ? ORDER BY sequence`);
  const endRun = database.prepare(END_RUN);
  const digests = createRunDigests(database);
  const rows = createDecisionRows(database);
  type Settled = Awaited<ReturnType<OrderStore['settleOrder']>>;

  /** Stores a run's result in a race; the last run to enter settles all of them. */
  function enterRace(settlement: OrderSettlement, race: NonNullable<OrderSettlement['race']>): Settled {
    const { issueRef, runId, now, stale } = settlement;
    const stored: StoredEntry = { entry: race.entry, stale };
    const { changes } = enter.run(JSON.stringify(stored), issueRef, runId);
    if (Number(changes) === 0) throw new AlreadyDecided();
    const { open, entries } = readEntries(issueRef, race.group);
    const { decision } = race.entry.execution;
    if (open.length > 0) return { decision, repeated: false, waitsFor: open };
    const { winner, state, orders } = race.conclude(entries);
    activate.run(state, winner, issueRef);
    for (const order of orders) rows.decide({ issueRef, runId: order.runId, now }, order);
    const decided = orders.find((order) => order.runId === runId);
    return { decision: decided?.decision ?? decision, repeated: false };
  }

  function readEntries(issueRef: string, group: string) {
    const all = findEntries.all(issueRef, group);
    return {
      open: all.filter(({ entry }) => entry === null).map((row) => readText(row, 'run_id')),
      entries: all.filter(({ entry }) => entry !== null).map((row) => (readJson(row, 'entry') as StoredEntry).entry),
    };
  }

  /**
   * Lists the runs whose followers a settlement concerns: all runs of a race, because the last run decides the others'
   * orders.
   */
  function listSettledRuns({ issueRef, runId, race }: OrderSettlement): readonly string[] {
    const found = race === undefined ? [find.get(issueRef, runId) ?? {}] : findRuns.all(issueRef, race.group);
    return found.map((row) => readText(row, 'run'));
  }

  function settle(settlement: OrderSettlement): Settled {
    const { issueRef, runId, now, runResult, active, stale, race } = settlement;
    const isRacing = race !== undefined && Number(guardRace.run(now, issueRef, race.group).changes) === 1;
    const isActive = !isRacing && Number(guardActive.run(active.state, now, issueRef, runId).changes) === 1;
    const row = find.get(issueRef, runId);
    if (row === undefined) throw createOrderNotFoundError(issueRef, runId);
    const run = readText(row, 'run');
    if (Number(endRun.run(now, JSON.stringify(runResult), run).changes) === 1) digests.close(run, runResult);
    if (isRacing) return enterRace(settlement, race);
    const chosen = isActive ? active : stale;
    if (!rows.decide(settlement, chosen)) throw new AlreadyDecided();
    return { decision: chosen.decision, repeated: false };
  }

  return {
    async settleOrder(settlement) {
      const { issueRef, runId } = settlement;
      try {
        // The runs are read in the same transaction. A read that fails after the commit would report a stored
        // settlement as failed.
        const { settled, runs } = await database.write(() => ({
          settled: settle(settlement),
          runs: listSettledRuns(settlement),
        }));
        for (const key of [QUEUE, ...runs]) wakers.wake(key);
        return settled;
      } catch (error) {
        if (!(error instanceof AlreadyDecided)) throw error;
      }
      return database.read((): Settled => {
        const row = find.get(issueRef, runId) ?? {};
        const decision = readJsonOrNull(row, 'decision') as Decision | null;
        if (decision !== null) return { decision, repeated: true };
        const { entry } = readJson(row, 'entry') as StoredEntry;
        const { open } = readEntries(issueRef, readText(row, 'race_group'));
        return { decision: entry.execution.decision, repeated: true, waitsFor: open };
      });
    },
  };
}

/**
 * The first statement of a settlement: only the active run changes its issue's state, and only a human decision changes
 * `needs-human`.
 */
export const GUARD_ACTIVE_RUN = `
  UPDATE issues SET state = CASE state WHEN 'needs-human' THEN state ELSE ? END, updated_at = ?
  WHERE issue_ref = ? AND active_run_id = ?`;

/** The first statement of a settlement in a race: only the active group changes its issue. */
const GUARD_RACE = `UPDATE issues SET updated_at = ? WHERE issue_ref = ? AND active_group = ?`;

/** The second statement of a settlement in a race: a run enters once. */
const ENTER_RACE = `
  UPDATE orders SET entry = ? WHERE issue_ref = ? AND run_id = ? AND entry IS NULL AND decision IS NULL`;

/** An order is decided once. */
export const SETTLE_ORDER = `
  UPDATE orders SET decision = ?, result = ?, settled_at = ?
  WHERE issue_ref = ? AND run_id = ? AND decision IS NULL`;

const ADD_EXECUTION = `
  INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;

const ADD_ITEM = `
  INSERT INTO inbox (id, issue_ref, run_id, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const ADD_MESSAGE = `
  INSERT INTO outbox (id, sink, issue_ref, trigger_key, body, state, due_at, created_at)
  VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?) ON CONFLICT DO NOTHING`;

/** Inserts the rows that follow from a decision, inside a transaction; existing rows are not changed. */
function createDecisionRows(database: Database): {
  /** Decides an order and writes all resulting rows; false if it was already decided. */
  decide(name: Pick<OrderSettlement, 'issueRef' | 'runId' | 'now'>, decided: StoredDecision): boolean;
  addExecution(execution: ExecutionRecord): void;
  addMessage(message: NewOutboxMessage, now: number): void;
} {
  const settle = database.prepare(SETTLE_ORDER);
  const execution = database.prepare(ADD_EXECUTION);
  const item = database.prepare(ADD_ITEM);
  const message = database.prepare(ADD_MESSAGE);
  function addExecution(added: ExecutionRecord): void {
    const { id, issue_ref: issueRef, run_id: runId, worker, decision, at } = added;
    execution.run(id, issueRef, runId, worker, decision, at, JSON.stringify(added));
  }
  function addMessage({ id, sink, issue_ref: issueRef, trigger, body }: NewOutboxMessage, now: number): void {
    message.run(id, sink, issueRef, trigger, JSON.stringify(body), now, now);
  }
  return {
    decide({ issueRef, runId, now }, { decision, result, execution: added, item: opened = null, outbox = [] }) {
      const stored = result === null ? null : JSON.stringify(result);
      if (Number(settle.run(JSON.stringify(decision), stored, now, issueRef, runId).changes) === 0) return false;
      addExecution(added);
      if (opened !== null) item.run(opened.id, opened.issue_ref, opened.run_id, JSON.stringify(opened));
      for (const each of outbox) addMessage(each, now);
      return true;
    },
    addExecution,
    addMessage,
  };
}

/** A decision; one that only archives has no item and no messages. */
type StoredDecision = OrderSettlement['stale'] & Partial<DecidedOrder>;

/** Creates the command that records human decisions. */
function createResolveItem(database: Database, wakers: Wakers): Pick<OrderStore, 'resolveItem'> {
  const findItem = database.prepare('SELECT * FROM inbox WHERE id = ?');
  const findActive = database.prepare('SELECT active_run_id, active_group FROM issues WHERE issue_ref = ?');
  const choose = database.prepare('UPDATE issues SET active_run_id = ?, active_group = NULL WHERE issue_ref = ?');
  const resolveOne = database.prepare('UPDATE inbox SET resolution = ? WHERE id = ?');
  const resolveOpen = database.prepare('UPDATE inbox SET resolution = ? WHERE issue_ref = ? AND resolution IS NULL');
  const updateIssue = database.prepare(`
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
    const isChoice = item.group !== undefined && active?.['active_group'] === item.group;
    if (item.resolution !== null || (activeRunId !== item.run_id && !isChoice)) {
      return { status: 'conflict', activeRunId, resolution: item.resolution };
    }

    rows.addExecution(execution);
    for (const message of outbox) rows.addMessage(message, now);
    if (retry === undefined) {
      resolveOne.run(JSON.stringify(resolution), id);
      if (isChoice && state === 'review') {
        choose.run(item.run_id, item.issue_ref);
        resolveOpen.run(JSON.stringify(createSupersededByChoice(item.run_id, resolution)), item.issue_ref);
      }
      updateIssue.run(now, state, item.issue_ref);
      return { status: 'resolved', item: { ...item, resolution } };
    }
    const [order] = replaceRun({ ...retry, now }, state);
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
