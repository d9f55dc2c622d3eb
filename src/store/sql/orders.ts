import type { InboxItem, IssueState, OrderRecord, Resolution, WorkOrder } from '../records/index.js';
import type { ItemResolution, OrderStore, OrderSubmission, ResolveOutcome } from '../ports/index.js';
import type { Dialect, GuardedChange, Session } from '../driver.js';
import {
  CANCELED_IN_QUEUE,
  checkReplaced,
  checkSameOrder,
  createSuperseded,
  createSupersededByChoice,
  nameOrders,
  type NamedOrder,
  type StoredEntry,
} from '../queue-rules.js';
import { readItem, readJson, readNumber, readOrder, readText, readTextOrNull } from '../rows.js';
import { addExecution, decideOrder } from './decisions.js';
import { listEndValues } from '../run-digest.js';
import { createOrderLists, findOne } from './lists.js';
import { buildCancelStatements, buildRunInsert, DIGEST_STATEMENTS, listRunValues } from './runs.js';
import { settleOrder } from './settlements.js';

/** Creates the store's methods for issues, orders, the inbox and executions. */
export function createOrders(dialect: Dialect, searchWindow: number): OrderStore {
  const { database, announce } = dialect;
  return {
    async submitOrder(submission) {
      const { request_id: requestId } = submission.request;
      // Concurrent requests with the same id are serialized, so the second finds the first.
      const { stopped, ...submitted } =
        requestId === undefined
          ? await submit(database, submission)
          : await database.exclusive(`request ${requestId}`, async (session) =>
              submitOnce(session, submission, requestId),
            );
      await announce({ queue: true, requests: stopped });
      return submitted;
    },

    settleOrder: async (settlement) => settleOrder(dialect, settlement),

    async resolveItem(decided) {
      const { stopped = [], ...outcome } = await database.transaction(async (session) =>
        resolveInTurn(session, decided),
      );
      await announce({ queue: true, requests: stopped, messages: decided.outbox.length > 0 });
      return outcome;
    },

    ...createOrderLists(database, searchWindow),
  };
}

type Submitted = Awaited<ReturnType<OrderStore['submitOrder']>>;

/** Submits an order. The first order of an issue is one statement. */
async function submit(session: Session, submission: OrderSubmission): Promise<Submitted & Stopped> {
  const { now, baseCommit = null, rivals = [] } = submission;
  const [first] = nameOrders(submission, 1).orders;
  const record =
    rivals.length === 0 ? await addOrder(session, ADD_FIRST_ORDER, first, { group: null, baseCommit, now }) : undefined;
  if (record !== undefined) return { record, rivals: [], repeated: false, stopped: [] };
  return session.transaction(async (inner) => submitNext(inner, submission));
}

async function submitNext(session: Session, submission: OrderSubmission): Promise<Submitted & Stopped> {
  const { issue_ref: issueRef } = submission.request;
  const { orders, stopped, isNew } = await replaceRun(session, submission, 'doing');
  const [record, ...rivals] = orders;
  if (!isNew) {
    const superseded = createSuperseded(record.order.run_id, submission);
    checkReplaced(await session.run(RESOLVE_OPEN, [issueRef, JSON.stringify(superseded)]), submission);
  }
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
): Promise<Stopped & { readonly orders: readonly [OrderRecord, ...OrderRecord[]]; readonly isNew: boolean }> {
  const { now, request, baseCommit = null } = submission;
  const issueRef = request.issue_ref;
  const count = 1 + (submission.rivals ?? []).length;
  const reserved = (await session.get(RESERVE_NUMBERS, [issueRef, state, count, now])) ?? {};
  const number = readNumber(reserved, 'last_run_number') - count + 1;
  // Numbers are never assigned again: an issue's first run replaces nothing.
  const isNew = number === 1;
  const { orders, group } = nameOrders(submission, number);
  const [first, ...rivals] = orders;
  await session.run('UPDATE issues SET active_run_id = $2, active_group = $3 WHERE issue_ref = $1', [
    issueRef,
    group === null ? first.runId : null,
    group,
  ]);
  const stopped = isNew ? [] : await stopReplaced(session, issueRef, now);
  const details = { group, baseCommit, now };
  const added: [OrderRecord, ...OrderRecord[]] = [await addNext(session, first, details)];
  for (const rival of rivals) added.push(await addNext(session, rival, details));
  return { orders: added, stopped, isNew };
}

/** Requests cancellation of an issue's open runs. Returns their ids. */
async function stopReplaced(session: Session, issueRef: string, now: number): Promise<string[]> {
  // The entries of a replaced race are archived without effect.
  for (const row of await session.all(LIST_REPLACED_ENTRIES, [issueRef])) {
    const { stale } = readJson(row, 'entry') as StoredEntry;
    await decideOrder(session, { issueRef, runId: readText(row, 'run_id'), now }, stale);
  }
  const stopped = await session.change(STOP_OTHERS, [issueRef, now, ...listEndValues(CANCELED_IN_QUEUE)]);
  return stopped.map((row) => readText(row, 'id'));
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
    ...buildCancelStatements(`SELECT id FROM guard WHERE state = 'queued'`, { now: 2, result: 3 }),
    `UPDATE orders SET settled_at = $2 WHERE run IN (SELECT id FROM guard WHERE state = 'queued')`,
  ],
};

async function addNext(session: Session, added: NamedOrder, details: AddedOrder): Promise<OrderRecord> {
  const record = await addOrder(session, ADD_NEXT_ORDER, added, details);
  if (record === undefined) throw new Error('The guard finds a row.');
  return record;
}

/** Adds an order and its run; undefined if the guard finds nothing. */
async function addOrder(
  session: Session,
  change: GuardedChange,
  added: NamedOrder,
  { group, baseCommit, now }: AddedOrder,
): Promise<OrderRecord | undefined> {
  const { request, workerType, run, runId, spec } = added;
  const order = JSON.stringify({ ...request, run_id: runId } satisfies WorkOrder);
  const values = listRunValues({ id: run, spec, order: added, now });
  const found = await session.change(change, [...values, request.request_id ?? null, order, baseCommit, group]);
  if (found.length === 0) return undefined;
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

/** The guard finds the number of the new run, which its other rows need. */
const ORDER_STATEMENTS = [
  buildRunInsert('seq, ', ', guard'),
  ...DIGEST_STATEMENTS,
  `INSERT INTO orders (issue_ref, run_id, run, request_id, worker_type, work_order, base_commit, race_group, created_at)
   SELECT $6::text, $7::text, $1, $18::text, $8::text, $19::text, $20::text, $21::text, $14::bigint FROM guard`,
] as const;

const ADD_NEXT_ORDER: GuardedChange = { guard: 'SELECT next_seq(runs) AS seq', statements: ORDER_STATEMENTS };

/** Finds nothing if the issue exists. Of two concurrent submissions, the second waits until the first is committed. */
const ADD_FIRST_ORDER: GuardedChange = {
  guard: `
    INSERT INTO issues (issue_ref, state, active_run_id, last_run_number, updated_at)
    VALUES ($6, 'doing', $7, 1, $14) ON CONFLICT DO NOTHING RETURNING next_seq(runs) AS seq`,
  statements: ORDER_STATEMENTS,
};

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
