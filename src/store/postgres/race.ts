import type { DecidedOrder, OrderSettlement, OrderStore } from '../../orders/index.js';
import type { KeptEntry } from '../queue-rules.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import {
  ALWAYS,
  executionValues,
  insertExecution,
  insertItem,
  insertMessages,
  itemValues,
  messageValues,
} from './insert.js';
import { closeDigest, digestValues, readColumns } from './rows.js';

type Settled = Awaited<ReturnType<OrderStore['settleOrder']>>;

/**
 * Keeps the result of a race's run; the last one to enter settles them all. Undefined where the race is not the active one
 * of its issue any more. The first statement is guarded by the active group and locks the issue: runs enter one at a time.
 */
export async function enterRace(
  { database }: Pick<Context, 'database'>,
  settlement: OrderSettlement,
  race: NonNullable<OrderSettlement['race']>,
): Promise<Settled | undefined> {
  const { issueRef, runId, now, stale, runResult } = settlement;
  return database.transaction(async (transaction): Promise<Settled | undefined> => {
    const fence = await transaction.query(
      `UPDATE sluice.issues SET active_group = active_group WHERE issue_ref = $1 AND active_group = $2
       RETURNING true AS done`,
      [issueRef, race.group],
    );
    if (fence.rows.length === 0) return undefined;
    const kept: KeptEntry = { entry: race.entry, stale };
    const entered = await transaction.query(ENTER, [
      issueRef,
      runId,
      now,
      JSON.stringify(kept),
      JSON.stringify(runResult),
      ...digestValues(runResult),
    ]);
    const { open, entries } = await readEntries(transaction, issueRef, race.group);
    // Entered before: undecided still, or an order that a person has to choose.
    if (entered.rows.length === 0) return open.length === 0 ? undefined : readEntered(transaction, settlement, open);
    const { decision } = race.entry.execution;
    if (open.length > 0) return { decision, repeated: false, waitsFor: open };
    const { winner, state, orders } = race.conclude(entries);
    await transaction.query(
      `UPDATE sluice.issues SET state = $2, active_run_id = $3::text, active_settled = true,
         active_group = CASE WHEN $3::text IS NULL THEN active_group END
       WHERE issue_ref = $1`,
      [issueRef, state, winner],
    );
    for (const order of orders) await decideOrder(transaction, { issueRef, runId: order.runId, now }, order);
    return { decision: orders.find((order) => order.runId === runId)?.decision ?? decision, repeated: false };
  });
}

const ENTER = `
  WITH entered AS (
    UPDATE sluice.orders SET entry = $4
    WHERE issue_ref = $1 AND run_id = $2 AND entry IS NULL AND decision IS NULL
    RETURNING run
  ), changed AS (
    UPDATE sluice.issues SET updated_at = $3 FROM entered WHERE issues.issue_ref = $1
  ), ended AS (
    UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $5
    FROM entered WHERE runs.id = entered.run AND runs.state <> 'ended'
    RETURNING runs.seq, runs.state, runs.started_at, runs.ended_at
  ), counted AS (
    ${closeDigest(6, 'ended')}
  )
  SELECT true AS done FROM entered`;

async function readEntries(transaction: Queryable, issueRef: string, group: string) {
  const { rows } = await transaction.query(
    `SELECT run_id, entry FROM sluice.orders WHERE issue_ref = $1 AND race_group = $2 ORDER BY seq`,
    [issueRef, group],
  );
  const all = rows.map((row) => {
    const { text, jsonOrNull } = readColumns(row);
    return { runId: text('run_id'), kept: jsonOrNull('entry') as KeptEntry | null };
  });
  return {
    open: all.filter(({ kept }) => kept === null).map(({ runId }) => runId),
    entries: all.flatMap(({ kept }) => (kept === null ? [] : [kept.entry])),
  };
}

async function readEntered(
  transaction: Queryable,
  { issueRef, runId }: OrderSettlement,
  open: readonly string[],
): Promise<Settled> {
  const { rows } = await transaction.query(`SELECT entry FROM sluice.orders WHERE issue_ref = $1 AND run_id = $2`, [
    issueRef,
    runId,
  ]);
  const { entry } = readColumns(rows[0] ?? {}).json('entry') as KeptEntry;
  return { decision: entry.execution.decision, repeated: true, waitsFor: open };
}

/** Decides an order of a race, with everything that follows; inside a transaction that holds the issue. */
async function decideOrder(
  transaction: Queryable,
  { issueRef, runId, now }: Pick<OrderSettlement, 'issueRef' | 'runId' | 'now'>,
  { decision, result, execution, item = null, outbox = [] }: OrderSettlement['stale'] & Partial<DecidedOrder>,
): Promise<void> {
  await transaction.query(
    `UPDATE sluice.orders SET settled_at = $3, decision = $4, result = $5
     WHERE issue_ref = $1 AND run_id = $2 AND decision IS NULL`,
    [issueRef, runId, now, JSON.stringify(decision), result === null ? null : JSON.stringify(result)],
  );
  await transaction.query(insertExecution(1, ALWAYS), executionValues(execution));
  await transaction.query(insertItem(1, ALWAYS), itemValues(item));
  await transaction.query(insertMessages(1, ALWAYS), messageValues(outbox, now));
}

/** Settles what has entered a race that another run replaces: it is archived, and changes nothing. */
export async function archiveEntries(transaction: Queryable, issueRef: string, now: number): Promise<void> {
  const { rows } = await transaction.query(
    `SELECT run_id, entry FROM sluice.orders
     WHERE issue_ref = $1 AND settled_at IS NULL AND entry IS NOT NULL ORDER BY seq`,
    [issueRef],
  );
  for (const row of rows) {
    const { text, json } = readColumns(row);
    await decideOrder(transaction, { issueRef, runId: text('run_id'), now }, (json('entry') as KeptEntry).stale);
  }
}
