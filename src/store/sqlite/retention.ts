import type { Retention } from '../retention.js';
import { formatEndCursor, readEndPage, toListed } from '../page.js';
import type { Database } from './database.js';
import type { SqlRow, Statement } from './driver.js';
import { readInteger, readText, readTextOrNull } from './rows.js';

/** Creates the store's retention methods. */
export function createRetention(database: Database): Retention {
  const listDue = database.prepare(LIST_DUE);
  const dropEvents = database.prepare(DROP_EVENTS);
  const mark = database.prepare('UPDATE runs SET forgotten_at = ? WHERE id = ?');
  const listPurged = database.prepare(LIST_PURGED);
  const listRecords = database.prepare(LIST_RECORDS);
  const dropRecords = DROP_RECORDS.map((sql) => database.prepare(sql));
  const dropById = DROP_BY_ID.map((sql) => database.prepare(sql));
  const dropBySequence = DROP_BY_SEQUENCE.map((sql) => database.prepare(sql));
  const dropDelivered = database.prepare(DROP_DELIVERED);
  const dropResults = database.prepare(DROP_RESULTS);
  const findOldestDelivered = database.prepare(FIND_OLDEST_DELIVERED);
  const findOldestResult = database.prepare(FIND_OLDEST_RESULT);

  /** Deletes rows; writes only if the oldest row is old enough. */
  const drop = async (
    findOldest: Statement,
    deleteOldest: Statement,
    { before, limit }: { readonly before: number; readonly limit: number },
  ): Promise<number> => {
    const isOld = await database.read(() => Number(findOldest.get()?.['at'] ?? Number.POSITIVE_INFINITY) < before);
    return isOld ? database.write(() => Number(deleteOldest.run(limit, before).changes)) : 0;
  };

  return {
    async purgeRuns({ endedBefore, runs, rows, now }) {
      // Usually nothing is due, so nothing is written.
      if ((await database.read(() => listDue.get(endedBefore, 1))) === undefined) return { ids: [], isDone: true };
      return database.write(() => {
        const due = listDue.all(endedBefore, runs).map((row) => readText(row, 'id'));
        const ids: string[] = [];
        let left = rows;
        for (const id of due) {
          left -= Number(dropEvents.run(id, left).changes);
          if (left <= 0) break;
          mark.run(now, id);
          ids.push(id);
        }
        return { ids, isDone: left > 0 && due.length < runs };
      });
    },

    listPurgedRuns: async (page) =>
      database.read(() => {
        const { size, after } = readEndPage(page);
        const rows = listPurged.all(after.endedAt, after.sequence, size + 1);
        return toListed(rows, { size }, (row) => readText(row, 'id'), formatCursor);
      }),

    async purgeRecords({ endedBefore, purgedBefore, limit, cursor }) {
      const { size, after } = readEndPage({ since: 0, limit, ...(cursor === undefined ? {} : { cursor }) });
      const list = (): SqlRow[] =>
        listRecords.all(after.endedAt, after.sequence, purgedBefore, endedBefore, size + 1) as SqlRow[];
      const found = await database.read(list);
      const last = found.length > size ? found[size - 1] : undefined;
      const next_cursor = last === undefined ? null : formatCursor(last);
      if (!found.some(isDue)) return { deleted: 0, next_cursor };
      return database.write(() => {
        const due = list().slice(0, size).filter(isDue);
        for (const row of due) {
          const issueRef = readTextOrNull(row, 'order_issue_ref');
          const runId = readTextOrNull(row, 'order_run_id');
          if (issueRef !== null && runId !== null) for (const each of dropRecords) each.run(issueRef, runId);
          for (const each of dropById) each.run(readText(row, 'id'));
          for (const each of dropBySequence) each.run(readInteger(row, 'sequence'));
        }
        return { deleted: due.length, next_cursor };
      });
    },

    purgeDelivered: async (step) => drop(findOldestDelivered, dropDelivered, step),
    purgeResults: async (step) => drop(findOldestResult, dropResults, step),
  };
}

function isDue(row: SqlRow): boolean {
  return readInteger(row, 'is_due') === 1;
}

/** Formats a cursor as for ended runs, but with the time when the run was purged. */
function formatCursor(row: SqlRow): string {
  return formatEndCursor({ endedAt: readInteger(row, 'forgotten_at'), sequence: readInteger(row, 'sequence') });
}

/** Runs of undecided orders and open inbox items are kept, because their folders and events are the evidence. */
const LIST_DUE = `
  SELECT id FROM runs INDEXED BY runs_kept
  WHERE state = 'ended' AND forgotten_at IS NULL AND ended_at < ?
    AND NOT EXISTS (
      SELECT 1 FROM inbox
      WHERE inbox.issue_ref = order_issue_ref AND inbox.run_id = order_run_id AND resolution IS NULL)
    AND NOT EXISTS (
      SELECT 1 FROM orders
      WHERE orders.issue_ref = order_issue_ref AND orders.run_id = order_run_id
        AND orders.settled_at IS NULL)
  ORDER BY ended_at LIMIT ?`;

/** Deletes oldest first, so a concurrent reader sees the gap before the remaining events. */
const DROP_EVENTS = `
  DELETE FROM event_packs WHERE rowid IN (
    SELECT rowid FROM event_packs WHERE run_id = ? ORDER BY protocol, attempt, last_seq LIMIT ?)`;

const LIST_PURGED = `
  SELECT id, sequence, forgotten_at FROM runs INDEXED BY runs_forgotten
  WHERE forgotten_at IS NOT NULL AND (forgotten_at, sequence) > (?, ?)
  ORDER BY forgotten_at, sequence LIMIT ?`;

/**
 * An issue's active order, and all orders of an active race, are kept, because results are compared with them. Inbox
 * items that are open, or not counted in the statistics yet, have no `resolved_at`.
 */
const LIST_RECORDS = `
  SELECT sequence, id, forgotten_at, order_issue_ref, order_run_id,
    ended_at < ?4
    AND NOT EXISTS (SELECT 1 FROM runs_to_count WHERE runs_to_count.sequence = runs.sequence)
    AND NOT EXISTS (
      SELECT 1 FROM issues WHERE issues.issue_ref = order_issue_ref AND (
        active_run_id = order_run_id OR active_group = (SELECT race_group FROM orders WHERE orders.run = runs.id)))
    AND NOT EXISTS (
      SELECT 1 FROM inbox
      WHERE inbox.issue_ref = order_issue_ref AND inbox.run_id = order_run_id AND resolved_at IS NULL) AS is_due
  FROM runs INDEXED BY runs_forgotten
  WHERE forgotten_at IS NOT NULL AND (forgotten_at, sequence) > (?1, ?2) AND forgotten_at < ?3
  ORDER BY forgotten_at, sequence LIMIT ?5`;

const DROP_RECORDS = [
  'DELETE FROM executions WHERE issue_ref = ? AND run_id = ?',
  'DELETE FROM inbox WHERE issue_ref = ? AND run_id = ?',
  'DELETE FROM orders WHERE issue_ref = ? AND run_id = ?',
];

/** Also deletes events that were appended after a run was purged. */
const DROP_BY_ID = ['DELETE FROM event_packs WHERE run_id = ?', 'DELETE FROM repository_starts WHERE run = ?'];
const DROP_BY_SEQUENCE = ['DELETE FROM run_digests WHERE sequence = ?', 'DELETE FROM runs WHERE sequence = ?'];

const FIND_OLDEST_DELIVERED = `SELECT created_at AS at FROM outbox WHERE state = 'delivered' ORDER BY sequence LIMIT 1`;
const FIND_OLDEST_RESULT = 'SELECT kept_at AS at FROM results ORDER BY sequence LIMIT 1';

/** Only the oldest rows are read: if they are too recent, so are all others. */
const DROP_DELIVERED = `
  DELETE FROM outbox WHERE sequence IN (
    SELECT sequence FROM (
      SELECT sequence, created_at FROM outbox WHERE state = 'delivered' ORDER BY sequence LIMIT ?)
    WHERE created_at < ?)`;

const DROP_RESULTS = `
  DELETE FROM results WHERE sequence IN (
    SELECT sequence FROM (SELECT sequence, kept_at FROM results ORDER BY sequence LIMIT ?) WHERE kept_at < ?)`;

export const RETENTION_STATEMENTS = {
  LIST_DUE,
  DROP_EVENTS,
  LIST_PURGED,
  LIST_RECORDS,
  FIND_OLDEST_DELIVERED,
  FIND_OLDEST_RESULT,
  DROP_DELIVERED,
  DROP_RESULTS,
} as const;
