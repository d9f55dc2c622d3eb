import type { InboxItem, IssueState, OrderRecord, Resolution, WorkOrder, Decision } from '../records/index.js';
import type { ItemResolution, OrderStore, OrderSubmission, ResolveOutcome, OrderSettlement } from '../ports/index.js';
import type { Dialect, GuardedChange, Session, Row } from '../driver.js';
import {
  CANCELED_IN_QUEUE,
  checkReplaced,
  checkSameOrder,
  createSuperseded,
  createSupersededByChoice,
  nameOrders,
  queueOrder,
  type NamedOrder,
  type StoredEntry,
} from '../queue-rules.js';
import { readItem, readJson, readNumber, readOrder, readText, readTextOrNull, readJsonOrNull } from '../rows.js';
import {
  addExecution,
  decideOrder,
  DECISION_STATEMENTS,
  FIRST_FREE_PARAMETER,
  listDecisionValues,
  UNDECIDED_ORDER,
} from './decisions.js';
import { listDigestValues, buildEndStatements } from '../run-digest.js';
import { createOrderLists, findOne } from './lists.js';
import { addRun, buildCancelStatements } from './runs.js';
import { createOrderNotFoundError } from '../store-error.js';

/** Creates the store's methods for issues, orders, the inbox and executions. */
export function createOrders(dialect: Dialect, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(dialect),
    ...createSettleOrder(dialect),
    ...createResolveItem(dialect),
    ...createOrderLists(dialect.database, searchWindow),
  };
}

/** Creates `submitOrder`, which assigns run ids and queues the runs that execute the orders. */
function createSubmitOrder({ database, announce }: Dialect): Pick<OrderStore, 'submitOrder'> {
  return {
    async submitOrder(submission) {
      const { request_id: requestId } = submission.request;
      // Concurrent requests with the same id are serialized, so the second finds the first.
      const { stopped, ...submitted } =
        requestId === undefined
          ? await database.transaction(async (session) => submit(session, submission))
          : await database.exclusive(`request ${requestId}`, async (session) =>
              submitOnce(session, submission, requestId),
            );
      await announce({ queue: true, requests: stopped });
      return submitted;
    },
  };
}

type Submitted = Awaited<ReturnType<OrderStore['submitOrder']>>;

async function submit(session: Session, submission: OrderSubmission): Promise<Submitted & Stopped> {
  const { issue_ref: issueRef } = submission.request;
  const { orders, stopped } = await replaceRun(session, submission, 'doing');
  const [record, ...rivals] = orders;
  const superseded = createSuperseded(record.order.run_id, submission);
  checkReplaced(await session.run(RESOLVE_OPEN, [issueRef, JSON.stringify(superseded)]), submission);
  return { record, rivals, repeated: false, stopped };
}

async function submitOnce(
  session: Session,
  submission: OrderSubmission,
  requestId: string,
): Promise<Submitted & Stopped> {
  const record = await findOne(session, 'SELECT * FROM order_records WHERE request_id = $1', [requestId], readOrder);
  if (record === undefined) return submit(session, submission);
  checkSameOrder(record.order, submission.request);
  const rivals =
    record.group === undefined
      ? []
      : await session.all(FIND_RIVALS, [record.order.issue_ref, record.group, record.run]);
  return { record, rivals: rivals.map(readOrder), repeated: true, stopped: [] };
}

interface Stopped {
  /** The runs whose cancellation was requested. */
  readonly stopped: readonly string[];
}

const FIND_RIVALS = 'SELECT * FROM order_records WHERE issue_ref = $1 AND race_group = $2 AND run <> $3 ORDER BY seq';

const RESOLVE_OPEN = 'UPDATE inbox SET resolution = $2 WHERE issue_ref = $1 AND resolution IS NULL';

/**
 * Activates a new run, or the runs of a race, in its issue, and requests cancellation of the run that it replaces. The
 * first statement locks the issue, so numbers are assigned one at a time.
 */
async function replaceRun(
  session: Session,
  submission: OrderSubmission,
  state: IssueState,
): Promise<Stopped & { readonly orders: readonly [OrderRecord, ...OrderRecord[]] }> {
  const { now, request, baseCommit = null } = submission;
  const issueRef = request.issue_ref;
  const count = 1 + (submission.rivals ?? []).length;
  const reserved = (await session.get(RESERVE_NUMBERS, [issueRef, state, count, now])) ?? {};
  const { orders, group } = nameOrders(submission, readNumber(reserved, 'last_run_number') - count + 1);
  const [first, ...rivals] = orders;
  await session.run('UPDATE issues SET active_run_id = $2, active_group = $3 WHERE issue_ref = $1', [
    issueRef,
    group === null ? first.runId : null,
    group,
  ]);
  // The entries of a replaced race are archived without effect.
  for (const row of await session.all(LIST_REPLACED_ENTRIES, [issueRef])) {
    const { stale } = readJson(row, 'entry') as StoredEntry;
    await decideOrder(session, { issueRef, runId: readText(row, 'run_id'), now }, stale);
  }
  const canceled = [JSON.stringify(CANCELED_IN_QUEUE), ...listDigestValues(CANCELED_IN_QUEUE)];
  const stopped = await session.change(STOP_OTHERS, [issueRef, now, ...canceled]);
  const added: [OrderRecord, ...OrderRecord[]] = [await addOrder(session, first, { group, baseCommit, now })];
  for (const rival of rivals) added.push(await addOrder(session, rival, { group, baseCommit, now }));
  return { orders: added, stopped: stopped.map((row) => readText(row, 'id')) };
}

const RESERVE_NUMBERS = `
  INSERT INTO issues (issue_ref, state, last_run_number, updated_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (issue_ref) DO UPDATE
    SET state = $2, active_settled = 0, last_run_number = issues.last_run_number + $3, updated_at = $4
  RETURNING last_run_number`;

const LIST_REPLACED_ENTRIES = `
  SELECT run_id, entry FROM orders INDEXED BY orders_by_issue
  WHERE issue_ref = $1 AND settled_at IS NULL AND entry IS NOT NULL ORDER BY seq`;

/** Also earlier orders: an order that was claimed when it was replaced can be queued again. */
const STOP_OTHERS: GuardedChange = {
  guard: `
    SELECT id, state FROM runs
    WHERE id IN (SELECT run FROM orders INDEXED BY orders_by_issue WHERE issue_ref = $1 AND settled_at IS NULL)
      AND state <> 'ended' FOR UPDATE`,
  statements: [
    ...buildCancelStatements(`SELECT id FROM guard WHERE state = 'queued'`, { now: '$2', result: '$3', first: 4 }),
    `UPDATE orders SET settled_at = $2 WHERE run IN (SELECT id FROM guard WHERE state = 'queued')`,
  ],
};

async function addOrder(
  session: Session,
  added: NamedOrder,
  { group, baseCommit, now }: AddedOrder,
): Promise<OrderRecord> {
  const { request, workerType, run, runId } = added;
  const order = JSON.stringify({ ...request, run_id: runId } satisfies WorkOrder);
  const issueRef = request.issue_ref;
  await session.run(ADD_ORDER, [
    issueRef,
    runId,
    run,
    request.request_id ?? null,
    workerType,
    order,
    baseCommit,
    group,
    now,
  ]);
  await addRun(session, queueOrder(added), { requestId: null, now });
  return {
    order: JSON.parse(order) as WorkOrder,
    run,
    worker_type: workerType,
    state: 'queued',
    base_commit: baseCommit,
    created_at: new Date(now).toISOString(),
    started_at: null,
    settled_at: null,
    decision: null,
    result: null,
    ...(group === null ? {} : { group }),
  };
}

interface AddedOrder {
  readonly group: string | null;
  readonly baseCommit: string | null;
  readonly now: number;
}

const ADD_ORDER = `
  INSERT INTO orders (issue_ref, run_id, run, request_id, worker_type, work_order, base_commit, race_group, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** Creates the command that records human decisions. */
function createResolveItem({ database, announce }: Dialect): Pick<OrderStore, 'resolveItem'> {
  return {
    async resolveItem(decided) {
      const { stopped = [], ...outcome } = await database.transaction(async (session) =>
        resolveInTurn(session, decided),
      );
      await announce({ queue: true, requests: stopped, messages: decided.outbox.length > 0 });
      return outcome;
    },
  };
}

async function resolveInTurn(session: Session, decided: ItemResolution): Promise<ResolveOutcome & Partial<Stopped>> {
  const found = await findOpen(session, decided.id);
  if ('status' in found) return found;
  const { item } = found;
  const { retry, now, state } = decided;
  await addExecution(session, decided.execution, decided.outbox, now);
  if (retry === undefined) {
    await closeItem(session, found, decided);
    return { status: 'resolved', item: { ...item, resolution: decided.resolution } };
  }
  const { orders, stopped } = await replaceRun(session, { ...retry, now }, state);
  const [order] = orders;
  const resolution: Resolution = { ...decided.resolution, new_run_id: order.order.run_id };
  await session.run(RESOLVE_OPEN, [item.issue_ref, JSON.stringify(resolution)]);
  return { status: 'resolved', item: { ...item, resolution }, order, stopped };
}

interface OpenItem {
  readonly item: InboxItem;
  /** Whether its race is undecided, so accepting the item chooses the winner. */
  readonly isChoice: boolean;
}

/** Returns the item if it can still be resolved. As everywhere, locks the issue before reading the item. */
async function findOpen(session: Session, id: string): Promise<OpenItem | ResolveOutcome> {
  const issue = await session.get(LOCK_ISSUE, [id]);
  const item = await findOne(session, 'SELECT * FROM inbox WHERE id = $1', [id], readItem);
  if (item === undefined) return { status: 'not_found' };
  const activeRunId = issue === undefined ? null : readTextOrNull(issue, 'active_run_id');
  const isChoice = item.group !== undefined && issue?.['active_group'] === item.group;
  if (item.resolution !== null || (activeRunId !== item.run_id && !isChoice)) {
    return { status: 'conflict', activeRunId, resolution: item.resolution };
  }
  return { item, isChoice };
}

const LOCK_ISSUE = `
  SELECT active_run_id, active_group FROM issues
  WHERE issue_ref = (SELECT issue_ref FROM inbox WHERE id = $1) FOR UPDATE`;

/** Closes an item. Accepting a result of an undecided race activates its run and closes the other items. */
async function closeItem(
  session: Session,
  { item, isChoice }: OpenItem,
  { resolution, state, now }: ItemResolution,
): Promise<void> {
  const { id, issue_ref: issueRef, run_id: runId } = item;
  await session.run('UPDATE inbox SET resolution = $2 WHERE id = $1', [id, JSON.stringify(resolution)]);
  if (isChoice && state === 'review') {
    await session.run('UPDATE issues SET active_run_id = $2, active_group = NULL WHERE issue_ref = $1', [
      issueRef,
      runId,
    ]);
    await session.run(RESOLVE_OPEN, [issueRef, JSON.stringify(createSupersededByChoice(runId, resolution))]);
  }
  await session.run(UPDATE_ISSUE, [issueRef, state, now]);
}

const UPDATE_ISSUE = `
  UPDATE issues SET updated_at = $3, state = CASE
    WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.issue_ref = $1 AND resolution IS NULL) THEN 'needs-human' ELSE $2 END
  WHERE issue_ref = $1`;

type Settled = Awaited<ReturnType<OrderStore['settleOrder']>>;

/** Creates the command that settles orders. */
function createSettleOrder({ database, announce }: Dialect): Pick<OrderStore, 'settleOrder'> {
  async function settle(settlement: OrderSettlement): Promise<Settled & { readonly runs: readonly string[] }> {
    const { issueRef, runId, race, runResult, active, stale } = settlement;
    const entered =
      race === undefined ? undefined : await database.transaction((session) => enterRace(session, settlement, race));
    if (entered !== undefined) return entered;
    const ended = [JSON.stringify(runResult), ...listDigestValues(runResult)];
    const settled = await database.change(SETTLE_ACTIVE, [
      ...listDecisionValues(settlement, active),
      ...ended,
      active.state,
    ]);
    if (settled.length > 0) return { decision: active.decision, repeated: false, runs: settled.map(readRunName) };
    // Not the active run, or already settled; a replaced run never becomes active again.
    const archived = await database.change(SETTLE_STALE, [...listDecisionValues(settlement, stale), ...ended]);
    if (archived.length > 0) return { decision: stale.decision, repeated: false, runs: archived.map(readRunName) };
    const row = await database.get('SELECT decision FROM orders WHERE issue_ref = $1 AND run_id = $2', [
      issueRef,
      runId,
    ]);
    if (row === undefined) throw createOrderNotFoundError(issueRef, runId);
    return { decision: readJson(row, 'decision') as Decision, repeated: true, runs: [] };
  }

  return {
    async settleOrder(settlement) {
      const { runs, ...settled } = await settle(settlement);
      await announce({ queue: true, runs });
      return settled;
    },
  };
}

const readRunName = (row: Row): string => readText(row, 'run');

const END_RUN = buildEndStatements('SELECT run FROM guard', {
  now: '$3',
  result: `$${FIRST_FREE_PARAMETER}`,
  first: FIRST_FREE_PARAMETER + 1,
});
const STATE = `$${FIRST_FREE_PARAMETER + 8}`;

/**
 * Settles the active run: only the active run changes its issue's state, and only a human decision changes
 * `needs-human`. The guard waits for concurrent changes of the issue and then checks again, so no decision is based on
 * outdated values.
 */
export const SETTLE_ACTIVE: GuardedChange = {
  guard: `
    SELECT issues.issue_ref, orders.run
    FROM issues CROSS JOIN orders ON orders.issue_ref = issues.issue_ref AND orders.run_id = $2
    WHERE issues.issue_ref = $1 AND active_run_id = $2 AND active_settled = 0 FOR UPDATE OF issues`,
  statements: [
    ...END_RUN,
    ...DECISION_STATEMENTS,
    `UPDATE issues SET state = CASE WHEN state = 'needs-human' THEN state ELSE ${STATE} END, active_settled = 1, updated_at = $3
     WHERE issue_ref IN (SELECT issue_ref FROM guard)`,
  ],
};

/** Stores the result of an inactive run; nothing else changes. */
const SETTLE_STALE: GuardedChange = { guard: UNDECIDED_ORDER, statements: [...END_RUN, ...DECISION_STATEMENTS] };

/**
 * Stores a run's result in a race; the last run to enter settles all of them. Undefined if the race is no longer active
 * in its issue. The first statement is guarded by the active group and locks the issue, so runs enter one at a time.
 */
async function enterRace(
  session: Session,
  settlement: OrderSettlement,
  race: NonNullable<OrderSettlement['race']>,
): Promise<(Settled & { readonly runs: readonly string[] }) | undefined> {
  const { issueRef, runId, now, stale, runResult } = settlement;
  if ((await session.run(LOCK_RACE, [issueRef, race.group])) === 0) return undefined;
  const stored: StoredEntry = { entry: race.entry, stale };
  const values = [issueRef, runId, now, JSON.stringify(stored), JSON.stringify(runResult)];
  const entered = await session.change(ENTER_RACE, [...values, ...listDigestValues(runResult)]);
  const all = (await session.all(LIST_ENTRIES, [issueRef, race.group])).map((row) => ({
    run: readRunName(row),
    runId: readText(row, 'run_id'),
    stored: readJsonOrNull(row, 'entry') as StoredEntry | null,
  }));
  const open = all.filter((each) => each.stored === null).map((each) => each.runId);
  const runs = all.map(({ run }) => run);
  if (entered.length === 0) {
    // This run has already entered: the race is still undecided, or a user has to choose.
    const own = all.find((each) => each.runId === runId)?.stored;
    if (open.length === 0 || own === undefined || own === null) return undefined;
    return { decision: own.entry.execution.decision, repeated: true, waitsFor: open, runs };
  }
  const { decision } = race.entry.execution;
  if (open.length > 0) return { decision, repeated: false, waitsFor: open, runs };
  const { winner, state, orders } = race.conclude(all.flatMap((each) => each.stored?.entry ?? []));
  await session.run(CONCLUDE_RACE, [issueRef, state, winner]);
  for (const order of orders) await decideOrder(session, { issueRef, runId: order.runId, now }, order);
  return { decision: orders.find((order) => order.runId === runId)?.decision ?? decision, repeated: false, runs };
}

const LOCK_RACE = `UPDATE issues SET active_group = active_group WHERE issue_ref = $1 AND active_group = $2`;

/** A run enters once. */
const ENTER_RACE: GuardedChange = {
  guard: `
    SELECT run FROM orders WHERE issue_ref = $1 AND run_id = $2 AND entry IS NULL AND decision IS NULL FOR UPDATE`,
  statements: [
    ...buildEndStatements('SELECT run FROM guard', { now: '$3', result: '$5', first: 6 }),
    'UPDATE orders SET entry = $4 WHERE run IN (SELECT run FROM guard)',
    'UPDATE issues SET updated_at = $3 WHERE issue_ref = $1 AND EXISTS (SELECT 1 FROM guard)',
  ],
};

const LIST_ENTRIES = 'SELECT run, run_id, entry FROM orders WHERE issue_ref = $1 AND race_group = $2 ORDER BY seq';

const CONCLUDE_RACE = `
  UPDATE issues SET state = $2, active_run_id = $3::text, active_settled = 1,
    active_group = CASE WHEN $3::text IS NULL THEN active_group END
  WHERE issue_ref = $1`;
