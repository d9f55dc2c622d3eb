import type {
  ItemResolution,
  OrderSettlement,
  OrderStore,
  OrderSubmission,
  ResolveOutcome,
} from '../../orders/index.js';
import type {
  Decision,
  ExecutionRecord,
  InboxItem,
  IssueState,
  NewOutboxMessage,
  OrderRecord,
  Resolution,
} from '../../records/index.js';
import { CANCELED_IN_QUEUE, checkSameOrder, needsWholeFolder, supersededBy } from '../queue-rules.js';
import { StoreError, orderNotFound } from '../store-error.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { notifyRequests } from './notifications.js';
import { createOrderLists } from './lists.js';
import { NOTIFY_QUEUE } from './queue.js';
import { closeDigest, readColumns, digestValues, readItem, readOrder } from './rows.js';
import { addRun } from './runs.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(context: Context, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(context),
    ...createSettleOrder(context),
    ...createResolveItem(context),
    ...createOrderLists(context, searchWindow),
  };
}

/** Assigns run ids and queues the runs that carry the orders. */
function createSubmitOrder({ database, queue }: Context): Pick<OrderStore, 'submitOrder'> {
  return {
    submitOrder: (submission) =>
      database.transaction(async (transaction) => {
        const { issue_ref: issueRef, request_id: requestId } = submission.request;
        if (requestId !== undefined) {
          const known = await findByRequest(transaction, requestId);
          if (known !== undefined) {
            checkSameOrder(known.order, submission.request);
            return { record: known, repeated: true };
          }
        }
        const record = await replaceRun(transaction, submission, 'doing');
        await transaction.query(`UPDATE sluice.inbox SET resolution = $2 WHERE issue_ref = $1 AND resolution IS NULL`, [
          issueRef,
          JSON.stringify(supersededBy(record.order.run_id, submission.now)),
        ]);
        await queue.announce(transaction, { kind: 'order', issue_ref: issueRef, run_id: record.order.run_id });
        return { record, repeated: false };
      }),
  };
}

/** Serializes concurrent requests with the same id, so that the second finds the first. */
async function findByRequest(transaction: Queryable, requestId: string): Promise<OrderRecord | undefined> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`sluice request ${requestId}`]);
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE request_id = $1`, [requestId]);
  return rows[0] === undefined ? undefined : readOrder(rows[0]);
}

/**
 * Makes a new run the active one of its issue and cancels the run it replaces. Its first statement locks the issue, so
 * that numbers are assigned one at a time.
 */
async function replaceRun(
  transaction: Queryable,
  submission: OrderSubmission,
  state: IssueState,
): Promise<OrderRecord> {
  const { request, workerType, run, spec, makeRunId, now } = submission;
  const issueRef = request.issue_ref;
  const { rows: numbers } = await transaction.query(
    `INSERT INTO sluice.issues AS issue (issue_ref, state, last_run_number, updated_at)
     VALUES ($1, $2, 1, $3)
     ON CONFLICT (issue_ref) DO UPDATE
       SET state = $2, active_settled = false, last_run_number = issue.last_run_number + 1, updated_at = $3
     RETURNING last_run_number`,
    [issueRef, state, now],
  );
  const number = numbers[0]?.['last_run_number'];
  if (typeof number !== 'number') {
    throw new StoreError(
      'STORE_DAMAGED',
      'The database is damaged: it did not return the number of a new run. Restore it from a backup.',
    );
  }

  const runId = makeRunId(number);
  await transaction.query(
    `WITH activated AS (
       UPDATE sluice.issues SET active_run_id = $2 WHERE issue_ref = $1
     ), replaced AS (
       UPDATE sluice.runs SET
         cancel_requested = true,
         ended_at = CASE WHEN state = 'queued' THEN $3 ELSE ended_at END,
         result = CASE WHEN state = 'queued' THEN $4 ELSE result END,
         state = CASE WHEN state = 'queued' THEN 'ended' ELSE state END
       WHERE id IN (SELECT run FROM sluice.orders WHERE issue_ref = $1 AND settled_at IS NULL) AND state <> 'ended'
       RETURNING id, seq, state, started_at, ended_at, ${notifyRequests('id')}
     ), counted AS (
       ${closeDigest(5, 'replaced')}
     )
     UPDATE sluice.orders SET settled_at = $3 FROM replaced WHERE run = replaced.id AND replaced.state = 'ended'`,
    [issueRef, runId, now, JSON.stringify(CANCELED_IN_QUEUE), ...digestValues(CANCELED_IN_QUEUE)],
  );
  await transaction.query(
    `INSERT INTO sluice.orders (issue_ref, run_id, run, request_id, work_order, worker_type, base_commit, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      issueRef,
      runId,
      run,
      request.request_id ?? null,
      JSON.stringify({ ...request, run_id: runId }),
      workerType,
      submission.baseCommit ?? null,
      now,
    ],
  );
  const queued = {
    id: run,
    spec,
    order: { issue_ref: issueRef, run_id: runId },
    workerType,
    priority: request.priority ?? 0,
    isExclusive: needsWholeFolder(submission),
  };
  await addRun(transaction, queued, { requestId: null, now });
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE run = $1`, [run]);
  if (rows[0] === undefined) {
    throw new StoreError(
      'STORE_DAMAGED',
      'The database is damaged: it did not return a new order. Restore it from a backup.',
    );
  }
  return readOrder(rows[0]);
}

/** Settles orders. */
function createSettleOrder({ database }: Context): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder(settlement) {
      if (await settleActive(database, settlement)) return { decision: settlement.active.decision, repeated: false };
      // Not the active run, or settled already; a run that was replaced never becomes active again.
      if (await settleStale(database, settlement)) return { decision: settlement.stale.decision, repeated: false };
      return { decision: await findDecision(database, settlement), repeated: true };
    },
  };
}

/** Ends the run of the order in `source`; a run that has ended keeps its result. The time is parameter 3. */
function buildEndRun(source: string, result: number): string {
  return `UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $${result}
    FROM ${source} WHERE runs.id = ${source}.run AND runs.state <> 'ended'
    RETURNING runs.seq, runs.state, runs.started_at, runs.ended_at`;
}

/**
 * One statement, and the fence decides whether it has any effect: the guarded update of the issue's row waits for
 * concurrent changes and then checks again, so nothing is decided on outdated values.
 */
const SETTLE_ACTIVE = `
  WITH fence AS (
    UPDATE sluice.issues SET
      state = CASE WHEN state = 'needs-human' THEN state ELSE $4 END,
      active_settled = true,
      updated_at = $3
    WHERE issue_ref = $1 AND active_run_id = $2 AND NOT active_settled
    RETURNING ${NOTIFY_QUEUE}
  ), settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $5, result = $6
    FROM fence
    WHERE issue_ref = $1 AND run_id = $2
    RETURNING run
  ), ended AS (
    ${buildEndRun('settled', 7)}
  ), counted AS (
    ${closeDigest(8, 'ended')}
  ), executed AS (
    ${insertExecution(14, 'fence')}
  ), asked AS (
    ${insertItem(21, 'fence')}
  ), queued AS (
    ${insertMessages(25, 'fence')}
  )
  SELECT true AS done FROM fence`;

async function settleActive(database: Queryable, settlement: OrderSettlement): Promise<boolean> {
  const { issueRef, runId, now, runResult, active } = settlement;
  const { rows } = await database.query(SETTLE_ACTIVE, [
    issueRef,
    runId,
    now,
    active.state,
    JSON.stringify(active.decision),
    active.result === null ? null : JSON.stringify(active.result),
    JSON.stringify(runResult),
    ...digestValues(runResult),
    ...executionValues(active.execution),
    ...itemValues(active.item),
    ...messageValues(active.outbox, now),
  ]);
  return rows.length > 0;
}

/** The result of a run that is not the active one is kept, and changes nothing. */
const SETTLE_STALE = `
  WITH settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $4, result = $5
    WHERE issue_ref = $1 AND run_id = $2 AND decision IS NULL
    RETURNING run, ${NOTIFY_QUEUE}
  ), ended AS (
    ${buildEndRun('settled', 6)}
  ), counted AS (
    ${closeDigest(7, 'ended')}
  ), executed AS (
    ${insertExecution(13, 'settled')}
  )
  SELECT true AS done FROM settled`;

async function settleStale(database: Queryable, settlement: OrderSettlement): Promise<boolean> {
  const { issueRef, runId, now, runResult, stale } = settlement;
  const { rows } = await database.query(SETTLE_STALE, [
    issueRef,
    runId,
    now,
    JSON.stringify(stale.decision),
    stale.result === null ? null : JSON.stringify(stale.result),
    JSON.stringify(runResult),
    ...digestValues(runResult),
    ...executionValues(stale.execution),
  ]);
  return rows.length > 0;
}

async function findDecision(database: Queryable, { issueRef, runId }: OrderSettlement): Promise<Decision> {
  const { rows } = await database.query(`SELECT decision FROM sluice.orders WHERE issue_ref = $1 AND run_id = $2`, [
    issueRef,
    runId,
  ]);
  if (rows[0] === undefined) throw orderNotFound(issueRef, runId);
  return readColumns(rows[0]).json('decision') as Decision;
}

/** Records the decisions of people. */
function createResolveItem({ database, queue }: Context): Pick<OrderStore, 'resolveItem'> {
  return {
    resolveItem: (decided) =>
      database.transaction(async (transaction): Promise<ResolveOutcome> => {
        const found = await findOpen(transaction, decided.id);
        if ('status' in found) return found;
        const order = await retryOrder(transaction, decided);
        const { execution, outbox, now } = decided;
        const resolution: Resolution =
          order === undefined ? decided.resolution : { ...decided.resolution, new_run_id: order.order.run_id };
        await closeItems(transaction, found, decided, resolution, order);
        await transaction.query(insertExecution(1, ALWAYS), executionValues(execution));
        await transaction.query(insertMessages(1, ALWAYS), messageValues(outbox, now));
        const item = { ...found, resolution };
        if (order === undefined) return { status: 'resolved', item };
        await queue.announce(transaction, {
          kind: 'order',
          issue_ref: order.order.issue_ref,
          run_id: order.order.run_id,
        });
        return { status: 'resolved', item, order };
      }),
  };
}

/** The item, if it can still be resolved. As everywhere, its issue is locked before the item is read. */
async function findOpen(transaction: Queryable, id: string): Promise<InboxItem | ResolveOutcome> {
  const { rows: issues } = await transaction.query(
    `SELECT active_run_id FROM sluice.issues
     WHERE issue_ref = (SELECT issue_ref FROM sluice.inbox WHERE id = $1)
     FOR UPDATE`,
    [id],
  );
  const { rows: items } = await transaction.query(`SELECT * FROM sluice.inbox WHERE id = $1`, [id]);
  if (items[0] === undefined) return { status: 'not_found' };
  const item = readItem(items[0]);
  const activeRunId = issues[0] === undefined ? null : readColumns(issues[0]).textOrNull('active_run_id');
  if (item.resolution !== null || activeRunId !== item.run_id) {
    return { status: 'conflict', activeRunId, resolution: item.resolution };
  }
  return item;
}

async function retryOrder(
  transaction: Queryable,
  { retry, now, state }: ItemResolution,
): Promise<OrderRecord | undefined> {
  if (retry === undefined) return undefined;
  return replaceRun(transaction, { ...retry, now }, state);
}

/** A new run closes all open items of the issue; any other decision closes only its own. */
async function closeItems(
  transaction: Queryable,
  { id, issue_ref: issueRef }: InboxItem,
  { state, now }: ItemResolution,
  resolution: Resolution,
  order: OrderRecord | undefined,
): Promise<void> {
  await transaction.query(
    `UPDATE sluice.inbox SET resolution = $3 WHERE resolution IS NULL AND issue_ref = $2 AND ($4 OR id = $1)`,
    [id, issueRef, JSON.stringify(resolution), order !== undefined],
  );
  if (order !== undefined) return;
  await transaction.query(
    `UPDATE sluice.issues SET
       updated_at = $3,
       state = CASE
         WHEN EXISTS (SELECT FROM sluice.inbox WHERE issue_ref = $1 AND resolution IS NULL) THEN 'needs-human' ELSE $2
       END
     WHERE issue_ref = $1
     RETURNING ${NOTIFY_QUEUE}`,
    [issueRef, state, now],
  );
}

/**
 * Rows that are written once. Each insert takes its values as parameters from number `first` on, runs once for each
 * row of `source`, and leaves an existing row unchanged.
 */
function insertExecution(first: number, source: string): string {
  return `INSERT INTO sluice.executions (id, issue_ref, run_id, worker, decision, at, record)
    SELECT ${texts(first, 7)} FROM ${source} ON CONFLICT DO NOTHING`;
}

function executionValues(execution: ExecutionRecord): string[] {
  const { id, issue_ref, run_id, worker, decision, at } = execution;
  return [id, issue_ref, run_id, worker, decision, at, JSON.stringify(execution)];
}

/** Without an item its values are null and nothing is inserted. */
function insertItem(first: number, source: string): string {
  return `INSERT INTO sluice.inbox (id, issue_ref, run_id, item)
    SELECT ${texts(first, 4)} FROM ${source} WHERE $${first}::text IS NOT NULL ON CONFLICT DO NOTHING`;
}

function itemValues(item: InboxItem | null): (string | null)[] {
  return item === null
    ? [null, null, null, null]
    : [item.id, item.issue_ref, item.run_id, JSON.stringify({ ...item, resolution: null })];
}

/** The last parameter is the time from which the messages are due. */
function insertMessages(first: number, source: string): string {
  const lists = Array.from({ length: 5 }, (_, index) => `$${first + index}::text[]`).join(', ');
  const now = `$${first + 5}::bigint`;
  return `INSERT INTO sluice.outbox (id, sink, issue_ref, trigger, body, state, tries, due_at, created_at)
    SELECT message.id, message.sink, message.issue_ref, message.trigger, message.body, 'waiting', 0, ${now}, ${now}
    FROM ${source}, unnest(${lists}) WITH ORDINALITY AS message (id, sink, issue_ref, trigger, body, place)
    ORDER BY place
    ON CONFLICT DO NOTHING`;
}

function messageValues(messages: readonly NewOutboxMessage[], now: number): (string[] | number)[] {
  return [
    messages.map(({ id }) => id),
    messages.map(({ sink }) => sink),
    messages.map(({ issue_ref: issueRef }) => issueRef),
    messages.map(({ trigger }) => trigger),
    messages.map(({ body }) => JSON.stringify(body)),
    now,
  ];
}

/** A source with one row, for an unconditional insert. */
const ALWAYS = '(VALUES (true)) AS always';

function texts(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}::text`).join(', ');
}
