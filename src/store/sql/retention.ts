import type { Database, Row } from '../driver.js';
import { formatTimeCursor, readTimePage, toListed } from '../page.js';
import { readFlag, readNumber, readText } from '../rows.js';
import type { Listed, Page } from '../ports/index.js';
import { listByTime } from './lists.js';

/** Deletes old data, a bounded amount per call. Concurrent processes never delete or count anything twice. */
export interface Retention {
  /**
   * Deletes the events of runs that ended before `endedBefore`, oldest first, at most `runs` runs and `rows` rows, and
   * marks runs without remaining events as purged. Their records stay. Runs are kept if their order is not settled or
   * has an open inbox item.
   */
  purgeRuns(step: {
    readonly endedBefore: number;
    readonly runs: number;
    readonly rows: number;
    readonly now: number;
  }): Promise<PurgedRuns>;
  /** Lists the ids of runs purged at `since` or later, in the order they were purged. */
  listPurgedRuns(page: Page & { readonly since: number }): Promise<Listed<string>>;
  /**
   * Deletes the records of runs that ended before `endedBefore` and were purged before `purgedBefore`: the run with its
   * order, its executions and its resolved inbox items. Statistics and an issue's active order are kept. One call
   * examines at most `limit` runs.
   */
  purgeRecords(step: {
    readonly endedBefore: number;
    readonly purgedBefore: number;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<PurgedRecords>;
  /** Deletes delivered messages written before a given time, oldest first; returns the number deleted. */
  purgeDelivered(step: PurgeStep): Promise<number>;
  /** Deletes results cached before a given time, oldest first; returns the number deleted. */
  purgeResults(step: PurgeStep): Promise<number>;
}

interface PurgeStep {
  readonly before: number;
  readonly limit: number;
}

/** The result of {@link Retention.purgeRuns}. */
export interface PurgedRuns {
  /** Runs that have no events left. */
  readonly ids: readonly string[];
  /** Whether nothing more is due. */
  readonly isDone: boolean;
}

/** The result of {@link Retention.purgeRecords}. */
export interface PurgedRecords {
  readonly deleted: number;
  /** Where to continue; null if all runs were examined. */
  readonly next_cursor: string | null;
}

/** Creates the store's retention methods. Rows that another process is deleting are skipped. */
export function createRetention(database: Database): Retention {
  return {
    async purgeRuns({ endedBefore, runs, rows, now }) {
      // Usually nothing is due, so nothing is locked.
      if ((await database.get(LIST_DUE, [endedBefore, 1])) === undefined) return { ids: [], isDone: true };
      return database.transaction(async (session) => {
        const due = (await session.all(`${LIST_DUE} FOR UPDATE SKIP LOCKED`, [endedBefore, runs])).map(readId);
        const dropped = await session.run(DROP_EVENTS, [JSON.stringify(due), rows]);
        const ids = (await session.all(MARK_PURGED, [JSON.stringify(due), now])).map(readId);
        return { ids, isDone: due.length < runs && dropped < rows };
      });
    },

    listPurgedRuns: async (page) => listByTime(database, page, { sql: LIST_PURGED, column: 'purged_at' }, readId),

    async purgeRecords({ endedBefore, purgedBefore, limit, cursor }) {
      const { size, after } = readTimePage({ since: 0, limit, ...(cursor === undefined ? {} : { cursor }) });
      const found = await database.all(LIST_RECORDS, [...after, purgedBefore, endedBefore, size + 1]);
      const examined = toListed(
        found,
        size,
        (row) => row,
        (row) => formatTimeCursor(row, 'purged_at'),
      );
      const { next_cursor } = examined;
      const due = examined.items.filter((row) => readFlag(row, 'is_due'));
      if (due.length === 0) return { deleted: 0, next_cursor };
      return database.transaction(async (session) => {
        const locked = await session.all(LOCK_RECORDS, [JSON.stringify(due.map((row) => readNumber(row, 'seq')))]);
        const seqs = JSON.stringify(locked.map((row) => readNumber(row, 'seq')));
        for (const sql of DROP_RECORDS) await session.run(sql, [seqs]);
        return { deleted: locked.length, next_cursor };
      });
    },

    purgeDelivered: async ({ before, limit }) => database.run(DROP_DELIVERED, [limit, before]),
    purgeResults: async ({ before, limit }) => database.run(DROP_RESULTS, [limit, before]),
  };
}

const readId = (row: Row): string => readText(row, 'id');

/** Runs of undecided orders and open inbox items are kept, because their folders and events are the evidence. */
export const LIST_DUE = `
  SELECT id FROM runs INDEXED BY runs_unpurged
  WHERE state = 'ended' AND purged_at IS NULL AND ended_at < $1
    AND NOT EXISTS (
      SELECT 1 FROM inbox
      WHERE inbox.issue_ref = order_issue_ref AND inbox.run_id = order_run_id AND resolution IS NULL)
    AND NOT EXISTS (
      SELECT 1 FROM orders
      WHERE orders.issue_ref = order_issue_ref AND orders.run_id = order_run_id AND orders.settled_at IS NULL)
  ORDER BY ended_at LIMIT $2`;

/**
 * Run by run and oldest first, so most runs are deleted whole. With `run_id IN (…)`, PostgreSQL would read the events of
 * every run that is due in each step, or even of all runs.
 */
export const DROP_EVENTS = `
  DELETE FROM event_packs WHERE ctid = ANY (ARRAY(
    SELECT event_packs.ctid FROM each($1) AS due
    JOIN LATERAL (SELECT ctid FROM event_packs WHERE run_id = due.value LIMIT $2) AS event_packs ON true
    LIMIT $2))`;

const MARK_PURGED = `
  UPDATE runs SET purged_at = $2
  WHERE id = ANY (ARRAY(SELECT due.value FROM each($1) AS due))
    AND NOT EXISTS (SELECT 1 FROM event_packs WHERE event_packs.run_id = runs.id)
  RETURNING id`;

export const LIST_PURGED = `
  SELECT id, seq, purged_at FROM runs INDEXED BY runs_purged
  WHERE purged_at IS NOT NULL AND (purged_at, seq) > ($1, $2) ORDER BY purged_at, seq LIMIT $3`;

/**
 * An issue's active order, and all orders of an active race, are kept, because results are compared with them. Inbox
 * items that are open, or not counted in the statistics yet, have no `resolved_at`.
 */
export const LIST_RECORDS = `
  SELECT seq, purged_at, CASE WHEN ended_at < $4
    AND NOT EXISTS (SELECT 1 FROM runs_to_count WHERE runs_to_count.seq = runs.seq)
    AND NOT EXISTS (
      SELECT 1 FROM issues WHERE issues.issue_ref = order_issue_ref AND (
        active_run_id = order_run_id OR active_group = (SELECT race_group FROM orders WHERE orders.run = runs.id)))
    AND NOT EXISTS (
      SELECT 1 FROM inbox
      WHERE inbox.issue_ref = order_issue_ref AND inbox.run_id = order_run_id AND resolved_at IS NULL)
    THEN 1 ELSE 0 END AS is_due
  FROM runs INDEXED BY runs_purged
  WHERE purged_at IS NOT NULL AND (purged_at, seq) > ($1, $2) AND purged_at < $3
  ORDER BY purged_at, seq LIMIT $5`;

const DUE_SEQS = `(SELECT due.value::bigint FROM each($1) AS due)`;

const LOCK_RECORDS = `SELECT seq FROM runs WHERE seq IN ${DUE_SEQS} ORDER BY seq FOR UPDATE SKIP LOCKED`;

const OF_ORDERS = `
  (issue_ref, run_id) IN (SELECT order_issue_ref, order_run_id FROM runs WHERE seq IN ${DUE_SEQS})`;
const DUE_IDS = `(SELECT id FROM runs WHERE seq IN ${DUE_SEQS})`;

/** Also deletes events that were appended after a run was purged. */
const DROP_RECORDS = [
  `DELETE FROM executions WHERE ${OF_ORDERS}`,
  `DELETE FROM inbox WHERE ${OF_ORDERS}`,
  `DELETE FROM orders WHERE ${OF_ORDERS}`,
  `DELETE FROM event_packs WHERE run_id IN ${DUE_IDS}`,
  `DELETE FROM run_digests WHERE seq IN ${DUE_SEQS}`,
  `DELETE FROM run_words WHERE number IN (
     SELECT due.value::bigint * 2 FROM each($1) AS due UNION ALL SELECT due.value::bigint * 2 + 1 FROM each($1) AS due)`,
  `DELETE FROM runs WHERE seq IN ${DUE_SEQS}`,
];

/** Only the oldest rows are read: if they are too recent, so are all others. */
const buildDropOldest = (table: string, oldest: string): string => `
  DELETE FROM ${table} WHERE seq = ANY (ARRAY(
    SELECT seq FROM ${table} WHERE seq = ANY (ARRAY(
      SELECT seq FROM (${oldest} ORDER BY seq LIMIT $1) AS oldest WHERE at < $2))
    FOR UPDATE SKIP LOCKED))`;

export const DROP_DELIVERED = buildDropOldest(
  'outbox',
  `SELECT seq, created_at AS at FROM outbox WHERE state = 'delivered'`,
);
export const DROP_RESULTS = buildDropOldest('results', 'SELECT seq, cached_at AS at FROM results');
