import type { Retention } from '../retention.js';
import { formatEndCursor, readEndPage, toListed } from '../page.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';
import { readColumns } from './rows.js';

/** Creates the store's retention methods. Rows that another process is deleting are skipped. */
export function createRetention({ database }: Context): Retention {
  return {
    async purgeRuns({ endedBefore, runs, rows, now }) {
      // Usually nothing is due, so nothing is locked.
      const { rows: first } = await database.query(LIST_DUE, [endedBefore, 1]);
      if (first.length === 0) return { ids: [], isDone: true };
      return database.transaction(async (transaction) => {
        const due = readIds(await transaction.query(`${LIST_DUE} FOR UPDATE SKIP LOCKED`, [endedBefore, runs]));
        const { rows: dropped } = await transaction.query(DROP_EVENTS, [due, rows]);
        const ids = readIds(await transaction.query(MARK, [due, now]));
        return { ids, isDone: due.length < runs && dropped.length < rows };
      });
    },

    async listPurgedRuns(page) {
      const { size, after } = readEndPage(page);
      const { rows } = await database.query(LIST_PURGED, [after.endedAt, after.sequence, size + 1]);
      return toListed(rows, { size }, (row) => readColumns(row).text('id'), formatCursor);
    },

    async purgeRecords({ endedBefore, purgedBefore, limit, cursor }) {
      const { size, after } = readEndPage({ since: 0, limit, ...(cursor === undefined ? {} : { cursor }) });
      const bounds = [after.endedAt, after.sequence, purgedBefore, endedBefore, size + 1];
      const { rows: found } = await database.query(LIST_RECORDS, bounds);
      const last = found.length > size ? found[size - 1] : undefined;
      const next_cursor = last === undefined ? null : formatCursor(last);
      const due = found.slice(0, size).filter((row) => readColumns(row).flag('is_due'));
      if (due.length === 0) return { deleted: 0, next_cursor };
      return database.transaction(async (transaction) => {
        const { rows } = await transaction.query(LOCK_RECORDS, [due.map((row) => readColumns(row).number('seq'))]);
        const seqs = rows.map((row) => readColumns(row).number('seq'));
        for (const sql of DROP_RECORDS) await transaction.query(sql, [seqs]);
        return { deleted: seqs.length, next_cursor };
      });
    },

    async purgeDelivered({ before, limit }) {
      const { rows } = await database.query(DROP_DELIVERED, [limit, before]);
      return rows.length;
    },

    async purgeResults({ before, limit }) {
      const { rows } = await database.query(DROP_RESULTS, [limit, before]);
      return rows.length;
    },
  };
}

function readIds({ rows }: { readonly rows: readonly Row[] }): string[] {
  return rows.map((row) => readColumns(row).text('id'));
}

/** Formats a cursor as for ended runs, but with the time when the run was purged. */
function formatCursor(row: Row): string {
  const { number } = readColumns(row);
  return formatEndCursor({ endedAt: number('forgotten_at'), sequence: number('seq') });
}

/** Runs of undecided orders and open inbox items are kept, because their folders and events are the evidence. */
const LIST_DUE = `
  SELECT id FROM sluice.runs AS run
  WHERE state = 'ended' AND forgotten_at IS NULL AND ended_at < $1
    AND NOT EXISTS (
      SELECT 1 FROM sluice.inbox
      WHERE inbox.issue_ref = run.order_issue_ref AND inbox.run_id = run.order_run_id AND resolution IS NULL)
    AND NOT EXISTS (
      SELECT 1 FROM sluice.orders
      WHERE orders.issue_ref = run.order_issue_ref AND orders.run_id = run.order_run_id
        AND orders.settled_at IS NULL)
  ORDER BY ended_at LIMIT $2`;

/**
 * Deletes run by run and oldest first, so a concurrent reader sees the gap before the remaining events. Rows are found
 * again by their ctid: they are never updated, and looking up their keys again took a third of the time.
 */
const DROP_EVENTS = `
  DELETE FROM sluice.event_packs WHERE ctid = ANY (ARRAY(
    SELECT oldest.ctid FROM unnest($1::text[]) AS due (id) CROSS JOIN LATERAL (
      SELECT ctid FROM sluice.event_packs WHERE run_id = due.id
      ORDER BY protocol, attempt, last_seq LIMIT $2) AS oldest
    LIMIT $2))
  RETURNING true AS done`;

const MARK = `
  UPDATE sluice.runs SET forgotten_at = $2
  WHERE id = ANY ($1) AND NOT EXISTS (SELECT FROM sluice.event_packs WHERE run_id = runs.id)
  RETURNING id`;

const LIST_PURGED = `
  SELECT id, seq, forgotten_at FROM sluice.runs
  WHERE forgotten_at IS NOT NULL AND (forgotten_at, seq) > ($1, $2) ORDER BY forgotten_at, seq LIMIT $3`;

/**
 * An issue's active order, and all orders of an active race, are kept, because results are compared with them. Inbox
 * items that are open, or not counted in the statistics yet, have no `resolved_at`.
 */
const IS_DUE = `
  ended_at < $4
  AND NOT EXISTS (SELECT FROM sluice.runs_to_count WHERE runs_to_count.seq = run.seq)
  AND NOT EXISTS (
    SELECT FROM sluice.issues WHERE issues.issue_ref = run.order_issue_ref AND (
      active_run_id = run.order_run_id
      OR active_group = (SELECT race_group FROM sluice.orders WHERE orders.run = run.id)))
  AND NOT EXISTS (
    SELECT FROM sluice.inbox
    WHERE inbox.issue_ref = run.order_issue_ref AND inbox.run_id = run.order_run_id AND resolved_at IS NULL)`;

const LIST_RECORDS = `
  SELECT seq, forgotten_at, coalesce(${IS_DUE}, false) AS is_due FROM sluice.runs AS run
  WHERE forgotten_at IS NOT NULL AND (forgotten_at, seq) > ($1, $2) AND forgotten_at < $3
  ORDER BY forgotten_at, seq LIMIT $5`;

const LOCK_RECORDS = `SELECT seq FROM sluice.runs WHERE seq = ANY ($1::bigint[]) ORDER BY seq FOR UPDATE SKIP LOCKED`;

const OF_ORDERS = `
  USING sluice.runs AS run
  WHERE run.seq = ANY ($1::bigint[]) AND issue_ref = run.order_issue_ref AND run_id = run.order_run_id`;

/** Also deletes events that were appended after a run was purged. */
const DROP_RECORDS = [
  `DELETE FROM sluice.executions ${OF_ORDERS}`,
  `DELETE FROM sluice.inbox ${OF_ORDERS}`,
  `DELETE FROM sluice.orders ${OF_ORDERS}`,
  `DELETE FROM sluice.event_packs USING sluice.runs AS run WHERE run.seq = ANY ($1::bigint[]) AND run_id = run.id`,
  `DELETE FROM sluice.repository_starts USING sluice.runs AS each WHERE each.seq = ANY ($1::bigint[]) AND run = each.id`,
  `DELETE FROM sluice.run_digests WHERE seq = ANY ($1::bigint[])`,
  `DELETE FROM sluice.runs WHERE seq = ANY ($1::bigint[])`,
];

/** Only the oldest rows are read: if they are too recent, so are all others. */
const DROP_DELIVERED = `
  DELETE FROM sluice.outbox WHERE seq IN (
    SELECT seq FROM sluice.outbox WHERE seq = ANY (ARRAY(
      SELECT seq FROM (
        SELECT seq, created_at FROM sluice.outbox WHERE state = 'delivered' ORDER BY seq LIMIT $1) AS oldest
      WHERE created_at < $2))
    FOR UPDATE SKIP LOCKED)
  RETURNING true AS done`;

const DROP_RESULTS = `
  DELETE FROM sluice.results WHERE seq IN (
    SELECT seq FROM sluice.results WHERE seq = ANY (ARRAY(
      SELECT seq FROM (SELECT seq, kept_at FROM sluice.results ORDER BY seq LIMIT $1) AS oldest WHERE kept_at < $2))
    FOR UPDATE SKIP LOCKED)
  RETURNING true AS done`;
