import type {
  ItemResolution,
  OrderSettlement,
  OrderStore,
  OrderSubmission,
  ResolveOutcome,
} from '../../orders/index.js';
import type { Decision, InboxItem, IssueState, OrderRecord, Resolution } from '../../records/index.js';
import {
  CANCELED_IN_QUEUE,
  checkSameOrder,
  nameOrders,
  queueOrder,
  createSuperseded,
  createSupersededByChoice,
} from '../queue-rules.js';
import type { NamedOrder } from '../queue-rules.js';
import { StoreError, createOrderNotFoundError } from '../store-error.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { WAKE_DELIVERER, buildRequestNotification } from './notifications.js';
import { createOrderLists } from './lists.js';
import {
  ALWAYS,
  listExecutionValues,
  buildExecutionInsert,
  buildItemInsert,
  buildMessagesInsert,
  listItemValues,
  listMessageValues,
} from './insert.js';
import { archiveEntries, enterRace } from './race.js';
import { buildDigestUpdate, readColumns, listDigestValues, readItem, readOrder } from './rows.js';
import { addRun } from './runs.js';

/** Creates the store's methods for issues, orders, the inbox and executions. */
export function createOrders(context: Context, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(context),
    ...createSettleOrder(context),
    ...createResolveItem(context),
    ...createOrderLists(context, searchWindow),
  };
}

/** Creates `submitOrder`, which assigns run ids and queues the runs that execute the orders. */
function createSubmitOrder({ database }: Context): Pick<OrderStore, 'submitOrder'> {
  return {
    submitOrder: (submission) =>
      database.transaction(async (transaction) => {
        const { issue_ref: issueRef, request_id: requestId } = submission.request;
        if (requestId !== undefined) {
          const known = await findByRequest(transaction, requestId);
          if (known !== undefined) {
            checkSameOrder(known.order, submission.request);
            return { record: known, rivals: await findRivals(transaction, known), repeated: true };
          }
        }
        const [record, ...rivals] = await replaceRun(transaction, submission, 'doing');
        await transaction.query(`UPDATE sluice.inbox SET resolution = $2 WHERE issue_ref = $1 AND resolution IS NULL`, [
          issueRef,
          JSON.stringify(createSuperseded(record.order.run_id, submission.now)),
        ]);
        return { record, rivals, repeated: false };
      }),
  };
}

/** Serializes concurrent requests with the same id, so the second finds the first. */
async function findByRequest(transaction: Queryable, requestId: string): Promise<OrderRecord | undefined> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`sluice request ${requestId}`]);
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE request_id = $1`, [requestId]);
  return rows[0] === undefined ? undefined : readOrder(rows[0]);
}

async function findRivals(transaction: Queryable, { group, order, run }: OrderRecord): Promise<readonly OrderRecord[]> {
  if (group === undefined) return [];
  const { rows } = await transaction.query(
    `SELECT * FROM sluice.order_records WHERE issue_ref = $1 AND race_group = $2 AND run <> $3 ORDER BY seq`,
    [order.issue_ref, group, run],
  );
  return rows.map(readOrder);
}

/**
 * Activates a new run, or the runs of a race, in its issue, and cancels the run that it replaces. The first statement
 * locks the issue, so numbers are assigned one at a time.
 */
async function replaceRun(
  transaction: Queryable,
  submission: OrderSubmission,
  state: IssueState,
): Promise<[OrderRecord, ...OrderRecord[]]> {
  const { request, now } = submission;
  const issueRef = request.issue_ref;
  const count = 1 + (submission.rivals ?? []).length;
  const { rows: numbers } = await transaction.query(
    `INSERT INTO sluice.issues AS issue (issue_ref, state, last_run_number, updated_at)
     VALUES ($1, $2, $4, $3)
     ON CONFLICT (issue_ref) DO UPDATE
       SET state = $2, active_settled = false, last_run_number = issue.last_run_number + $4, updated_at = $3
     RETURNING last_run_number`,
    [issueRef, state, now, count],
  );
  const number = numbers[0]?.['last_run_number'];
  if (typeof number !== 'number') {
    throw new StoreError(
      'STORE_DAMAGED',
      'The database is damaged: it did not return the number of a new run. Restore it from a backup.',
    );
  }

  const { orders, group } = nameOrders(submission, number - count + 1);
  const [first, ...rivals] = orders;
  await archiveEntries(transaction, issueRef, now);
  await transaction.query(
    `WITH activated AS (
       UPDATE sluice.issues SET active_run_id = $2, active_group = $12 WHERE issue_ref = $1
     ), replaced AS (
       UPDATE sluice.runs SET
         cancel_requested = true,
         ended_at = CASE WHEN state = 'queued' THEN $3 ELSE ended_at END,
         result = CASE WHEN state = 'queued' THEN $4 ELSE result END,
         state = CASE WHEN state = 'queued' THEN 'ended' ELSE state END
       WHERE id IN (SELECT run FROM sluice.orders WHERE issue_ref = $1 AND settled_at IS NULL) AND state <> 'ended'
       RETURNING id, seq, state, started_at, ended_at, ${buildRequestNotification('id')}
     ), counted AS (
       ${buildDigestUpdate(5, 'replaced')}
     )
     UPDATE sluice.orders SET settled_at = $3 FROM replaced WHERE run = replaced.id AND replaced.state = 'ended'`,
    [
      issueRef,
      group === null ? first.runId : null,
      now,
      JSON.stringify(CANCELED_IN_QUEUE),
      ...listDigestValues(CANCELED_IN_QUEUE),
      group,
    ],
  );
  const common = { group, baseCommit: submission.baseCommit ?? null, now };
  const added: [OrderRecord, ...OrderRecord[]] = [await addOrder(transaction, first, common)];
  for (const rival of rivals) added.push(await addOrder(transaction, rival, common));
  return added;
}

async function addOrder(
  transaction: Queryable,
  added: NamedOrder,
  {
    group,
    baseCommit,
    now,
  }: { readonly group: string | null; readonly baseCommit: string | null; readonly now: number },
): Promise<OrderRecord> {
  const { request, workerType, run, runId } = added;
  await transaction.query(
    `INSERT INTO sluice.orders
       (issue_ref, run_id, run, request_id, work_order, worker_type, base_commit, race_group, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      request.issue_ref,
      runId,
      run,
      request.request_id ?? null,
      JSON.stringify({ ...request, run_id: runId }),
      workerType,
      baseCommit,
      group,
      now,
    ],
  );
  await addRun(transaction, queueOrder(added), { requestId: null, now });
  const { rows } = await transaction.query(`SELECT * FROM sluice.order_records WHERE run = $1`, [run]);
  if (rows[0] === undefined) {
    throw new StoreError(
      'STORE_DAMAGED',
      'The database is damaged: it did not return a new order. Restore it from a backup.',
    );
  }
  return readOrder(rows[0]);
}

/** Creates the command that settles orders. */
function createSettleOrder({ database }: Context): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder(settlement) {
      const { race } = settlement;
      const entered = race === undefined ? undefined : await enterRace({ database }, settlement, race);
      if (entered !== undefined) return entered;
      if (await settleActive(database, settlement)) return { decision: settlement.active.decision, repeated: false };
      // Not the active run, or already settled; a replaced run never becomes active again.
      if (await settleStale(database, settlement)) return { decision: settlement.stale.decision, repeated: false };
      return { decision: await findDecision(database, settlement), repeated: true };
    },
  };
}

/**
 * Builds an update that ends the run of the order in `source`; an ended run keeps its result. The time is parameter 3.
 */
function buildEndRun(source: string, result: number): string {
  return `UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $${result}
    FROM ${source} WHERE runs.id = ${source}.run AND runs.state <> 'ended'
    RETURNING runs.seq, runs.state, runs.started_at, runs.ended_at`;
}

/**
 * One statement, which takes effect only if the guarded update of the issue's row succeeds (`fence`). That update waits
 * for concurrent changes and then checks again, so no decision is based on outdated values.
 */
const SETTLE_ACTIVE = `
  WITH fence AS (
    UPDATE sluice.issues SET
      state = CASE WHEN state = 'needs-human' THEN state ELSE $4 END,
      active_settled = true,
      updated_at = $3
    WHERE issue_ref = $1 AND active_run_id = $2 AND NOT active_settled
    RETURNING true
  ), settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $5, result = $6
    FROM fence
    WHERE issue_ref = $1 AND run_id = $2
    RETURNING run
  ), ended AS (
    ${buildEndRun('settled', 7)}
  ), counted AS (
    ${buildDigestUpdate(8, 'ended')}
  ), executed AS (
    ${buildExecutionInsert(15, 'fence')}
  ), asked AS (
    ${buildItemInsert(22, 'fence')}
  ), queued AS (
    ${buildMessagesInsert(26, 'fence')}
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
    ...listDigestValues(runResult),
    ...listExecutionValues(active.execution),
    ...listItemValues(active.item),
    ...listMessageValues(active.outbox, now),
  ]);
  return rows.length > 0;
}

/** Stores the result of an inactive run; nothing else changes. */
const SETTLE_STALE = `
  WITH settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $4, result = $5
    WHERE issue_ref = $1 AND run_id = $2 AND decision IS NULL
    RETURNING run
  ), ended AS (
    ${buildEndRun('settled', 6)}
  ), counted AS (
    ${buildDigestUpdate(7, 'ended')}
  ), executed AS (
    ${buildExecutionInsert(14, 'settled')}
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
    ...listDigestValues(runResult),
    ...listExecutionValues(stale.execution),
  ]);
  return rows.length > 0;
}

async function findDecision(database: Queryable, { issueRef, runId }: OrderSettlement): Promise<Decision> {
  const { rows } = await database.query(`SELECT decision FROM sluice.orders WHERE issue_ref = $1 AND run_id = $2`, [
    issueRef,
    runId,
  ]);
  if (rows[0] === undefined) throw createOrderNotFoundError(issueRef, runId);
  return readColumns(rows[0]).json('decision') as Decision;
}

/** Creates the command that records human decisions. */
function createResolveItem({ database }: Context): Pick<OrderStore, 'resolveItem'> {
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
        await transaction.query(buildExecutionInsert(1, ALWAYS), listExecutionValues(execution));
        await transaction.query(buildMessagesInsert(1, ALWAYS), listMessageValues(outbox, now));
        if (outbox.length > 0) await transaction.query(`SELECT ${WAKE_DELIVERER}`);
        const item = { ...found.item, resolution };
        return order === undefined ? { status: 'resolved', item } : { status: 'resolved', item, order };
      }),
  };
}

/** Returns the item if it can still be resolved. As everywhere, locks the issue before reading the item. */
async function findOpen(
  transaction: Queryable,
  id: string,
): Promise<{ readonly item: InboxItem; readonly isChoice: boolean } | ResolveOutcome> {
  const { rows: issues } = await transaction.query(
    `SELECT active_run_id, active_group FROM sluice.issues
     WHERE issue_ref = (SELECT issue_ref FROM sluice.inbox WHERE id = $1)
     FOR UPDATE`,
    [id],
  );
  const { rows: items } = await transaction.query(`SELECT * FROM sluice.inbox WHERE id = $1`, [id]);
  if (items[0] === undefined) return { status: 'not_found' };
  const item = readItem(items[0]);
  const activeRunId = issues[0] === undefined ? null : readColumns(issues[0]).textOrNull('active_run_id');
  const isChoice = item.group !== undefined && issues[0]?.['active_group'] === item.group;
  if (item.resolution !== null || (activeRunId !== item.run_id && !isChoice)) {
    return { status: 'conflict', activeRunId, resolution: item.resolution };
  }
  return { item, isChoice };
}

async function retryOrder(
  transaction: Queryable,
  { retry, now, state }: ItemResolution,
): Promise<OrderRecord | undefined> {
  if (retry === undefined) return undefined;
  const [order] = await replaceRun(transaction, { ...retry, now }, state);
  return order;
}

/**
 * Closes items: a new run closes all of the issue's open items, any other decision only its own item. Accepting a
 * result of an undecided race activates its run and closes the other items.
 */
async function closeItems(
  transaction: Queryable,
  {
    item: { id, issue_ref: issueRef, run_id: runId },
    isChoice,
  }: { readonly item: InboxItem; readonly isChoice: boolean },
  { state, now }: ItemResolution,
  resolution: Resolution,
  order: OrderRecord | undefined,
): Promise<void> {
  await transaction.query(
    `UPDATE sluice.inbox SET resolution = $3 WHERE resolution IS NULL AND issue_ref = $2 AND ($4 OR id = $1)`,
    [id, issueRef, JSON.stringify(resolution), order !== undefined],
  );
  if (order !== undefined) return;
  if (isChoice && state === 'review') {
    await transaction.query(`UPDATE sluice.issues SET active_run_id = $2, active_group = NULL WHERE issue_ref = $1`, [
      issueRef,
      runId,
    ]);
    await transaction.query(`UPDATE sluice.inbox SET resolution = $2 WHERE resolution IS NULL AND issue_ref = $1`, [
      issueRef,
      JSON.stringify(createSupersededByChoice(runId, resolution)),
    ]);
  }
  await transaction.query(
    `UPDATE sluice.issues SET
       updated_at = $3,
       state = CASE
         WHEN EXISTS (SELECT FROM sluice.inbox WHERE issue_ref = $1 AND resolution IS NULL) THEN 'needs-human' ELSE $2
       END
     WHERE issue_ref = $1`,
    [issueRef, state, now],
  );
}
