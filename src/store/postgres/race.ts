import type { DecidedOrder, OrderSettlement, OrderStore } from '../../orders/index.js';
import type { StoredEntry } from '../queue-rules.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import {
  ALWAYS,
  listExecutionValues,
  buildExecutionInsert,
  buildItemInsert,
  buildMessagesInsert,
  listItemValues,
  listMessageValues,
} from './insert.js';
import { buildDigestUpdate, listDigestValues, readColumns } from './rows.js';

type Settled = Awaited<ReturnType<OrderStore['settleOrder']>>;

/**
 * Stores a run's result in a race; the last run to enter settles all of them. Undefined if the race is no longer active
 * in its issue. The first statement is guarded by the active group and locks the issue, so runs enter one at a time.
 */
export async function enterRace(
  { database }: Pick<Context, 'database'>,
  settlement: OrderSettlement,
  race: NonNullable<OrderSettlement['race']>,
): Promise<Settled | undefined> {
  const { issueRef, runId, now, stale, runResult } = settlement;
  return database.transaction(async (transaction): Promise<Settled | undefined> => {
    const guard = await transaction.query(
      `UPDATE sluice.issues SET active_group = active_group WHERE issue_ref = $1 AND active_group = $2
       RETURNING true AS done`,
      [issueRef, race.group],
    );
    if (guard.rows.length === 0) return undefined;
    const stored: StoredEntry = { entry: race.entry, stale };
    const entered = await transaction.query(ENTER, [
      issueRef,
      runId,
      now,
      JSON.stringify(stored),
      JSON.stringify(runResult),
      ...listDigestValues(runResult),
    ]);
    const { open, entries } = await readEntries(transaction, issueRef, race.group);
    // This run has already entered: the race is still undecided, or a user has to choose.
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
    ${buildDigestUpdate(6, 'ended')}
  )
  SELECT true AS done FROM entered`;

async function readEntries(transaction: Queryable, issueRef: string, group: string) {
  const { rows } = await transaction.query(
    `SELECT run_id, entry FROM sluice.orders WHERE issue_ref = $1 AND race_group = $2 ORDER BY seq`,
    [issueRef, group],
  );
  const all = rows.map((row) => {
    const { text, jsonOrNull } = readColumns(row);
    return { runId: text('run_id'), stored: jsonOrNull('entry') as StoredEntry | null };
  });
  return {
    open: all.filter(({ stored }) => stored === null).map(({ runId }) => runId),
    entries: all.flatMap(({ stored }) => (stored === null ? [] : [stored.entry])),
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
  const { entry } = readColumns(rows[0] ?? {}).json('entry') as StoredEntry;
  return { decision: entry.execution.decision, repeated: true, waitsFor: open };
}

/** Decides an order of a race and writes all resulting rows, inside a transaction that has locked the issue. */
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
  await transaction.query(buildExecutionInsert(1, ALWAYS), listExecutionValues(execution));
  await transaction.query(buildItemInsert(1, ALWAYS), listItemValues(item));
  await transaction.query(buildMessagesInsert(1, ALWAYS), listMessageValues(outbox, now));
}

/** Settles the entries of a race that another run replaces: they are archived without effect. */
export async function archiveEntries(transaction: Queryable, issueRef: string, now: number): Promise<void> {
  const { rows } = await transaction.query(
    `SELECT run_id, entry FROM sluice.orders
     WHERE issue_ref = $1 AND settled_at IS NULL AND entry IS NOT NULL ORDER BY seq`,
    [issueRef],
  );
  for (const row of rows) {
    const { text, json } = readColumns(row);
    await decideOrder(transaction, { issueRef, runId: text('run_id'), now }, (json('entry') as StoredEntry).stale);
  }
}
