import { endCursor, readEndPage, toListed } from '../page.js';
import { countStates, OPEN_RUN_STATES } from '../upkeep.js';
import type { Upkeep } from '../upkeep.js';
import type { Database } from './database.js';
import type { SqlRow, Statement } from './driver.js';
import { readInteger, readIntegerOrNull, readText, readRun } from './rows.js';

/** Counts, and deletion of old data. */
export function createUpkeep(database: Database): Upkeep {
  const runs = database.prepare(COUNT_RUNS);
  const orders = database.prepare(COUNT_ORDERS);
  const inbox = database.prepare(COUNT_INBOX);
  const outbox = database.prepare(MEASURE_OUTBOX);
  const dead = database.prepare(COUNT_DEAD);
  const ended = database.prepare(LIST_ENDED);
  const forgettable = database.prepare(LIST_FORGETTABLE);
  const dropEvents = database.prepare(DROP_EVENTS);
  const markForgotten = database.prepare(`UPDATE runs SET forgotten_at = ? WHERE id = ? AND state = 'ended'`);
  const forgotten = database.prepare(FIND_FORGOTTEN);
  const settled = database.prepare(FIND_SETTLED);
  const dropDelivered = database.prepare(DROP_DELIVERED);
  const dropResults = database.prepare(DROP_RESULTS);
  const isEnded = database.prepare(`SELECT 1 FROM runs WHERE id = ? AND state = 'ended'`);
  const drop = async (statement: Statement, { before, limit }: { readonly before: number; readonly limit: number }) =>
    database.write(() => Number(statement.run(limit, before).changes));

  return {
    measure: async () =>
      database.read(() => {
        const open = outbox.get() ?? {};
        const openOrders = orders.get() ?? {};
        return {
          runs: countStates(OPEN_RUN_STATES, runs.all().map(readCount)),
          orders: { queued: readInteger(openOrders, 'queued'), running: readInteger(openOrders, 'running') },
          inbox: readInteger(inbox.get() ?? {}, 'count'),
          outbox: {
            open: readInteger(open, 'count'),
            dead: readInteger(dead.get() ?? {}, 'count'),
            oldest: readIntegerOrNull(open, 'oldest'),
          },
        };
      }),

    listEndedRuns: async (page) =>
      database.read(() => {
        const { size, after } = readEndPage(page);
        const rows = ended.all(after.endedAt, after.sequence, size + 1);
        return toListed(rows, { size }, readRun, formatCursor);
      }),

    listForgettableRuns: async ({ endedBefore, limit }) =>
      database.read(() => forgettable.all(endedBefore, limit).map((row) => readText(row, 'id'))),

    forgetEvents: async ({ id, limit, now }) =>
      database.write(() => {
        if (isEnded.get(id) === undefined) return true;
        if (Number(dropEvents.run(id, limit).changes) >= limit) return false;
        markForgotten.run(now, id);
        return true;
      }),

    findForgottenRuns: async (ids) =>
      database.read(() => forgotten.all(JSON.stringify(ids)).map((row) => readText(row, 'id'))),
    findSettledRuns: async ({ ids, endedBefore }) =>
      database.read(() => settled.all(JSON.stringify(ids), endedBefore).map((row) => readText(row, 'id'))),
    forgetDelivered: async (wanted) => drop(dropDelivered, wanted),
    forgetResults: async (wanted) => drop(dropResults, wanted),
  };
}

function formatCursor(row: SqlRow): string {
  return endCursor({ endedAt: readInteger(row, 'ended_at'), sequence: readInteger(row, 'sequence') });
}

function readCount(row: SqlRow): [state: string, count: number] {
  return [readText(row, 'state'), readInteger(row, 'count')];
}

const COUNT_RUNS = `SELECT state, count(*) AS count FROM runs WHERE state IN ('queued', 'running', 'waiting') GROUP BY state`;
const COUNT_ORDERS = `
  SELECT count(*) FILTER (WHERE state = 'queued') AS queued, count(*) FILTER (WHERE state = 'running') AS running
  FROM order_records WHERE settled_at IS NULL`;
const COUNT_INBOX = 'SELECT count(*) AS count FROM inbox WHERE resolution IS NULL';
const MEASURE_OUTBOX = `
  SELECT count(*) AS count, min(created_at) AS oldest FROM outbox INDEXED BY outbox_open
  WHERE state IN ('waiting', 'sending')`;
const COUNT_DEAD = `SELECT count(*) AS count FROM outbox WHERE state = 'dead'`;

/** The index is named: without figures about the table, SQLite would choose `runs_by_state` and sort every ended run. */
const LIST_ENDED = `
  SELECT * FROM runs INDEXED BY runs_by_end
  WHERE state = 'ended' AND (ended_at, sequence) > (?, ?)
  ORDER BY ended_at, sequence LIMIT ?`;

/** Runs of undecided orders, and of open inbox items, are kept: their folders and events are the evidence. */
const LIST_FORGETTABLE = `
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

/** Oldest first, so that a concurrent reader sees the gap before the remaining events. */
const DROP_EVENTS = `
  DELETE FROM event_packs WHERE rowid IN (
    SELECT rowid FROM event_packs WHERE run_id = ? ORDER BY protocol, attempt, last_seq LIMIT ?)`;

const FIND_FORGOTTEN = `
  SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND forgotten_at IS NOT NULL`;

const FIND_SETTLED = `
  SELECT id FROM runs
  WHERE id IN (SELECT value FROM json_each(?)) AND +state = 'ended' AND +ended_at < ?
    AND NOT EXISTS (
      SELECT 1 FROM orders
      WHERE orders.issue_ref = order_issue_ref AND orders.run_id = order_run_id
        AND orders.settled_at IS NULL)`;

/** Only the oldest rows are read: if they are too recent, so are all others. */
const DROP_DELIVERED = `
  DELETE FROM outbox WHERE sequence IN (
    SELECT sequence FROM (
      SELECT sequence, created_at FROM outbox WHERE state = 'delivered' ORDER BY sequence LIMIT ?)
    WHERE created_at < ?)`;

const DROP_RESULTS = `
  DELETE FROM results WHERE sequence IN (
    SELECT sequence FROM (SELECT sequence, kept_at FROM results ORDER BY sequence LIMIT ?) WHERE kept_at < ?)`;

export const UPKEEP_STATEMENTS = {
  COUNT_RUNS,
  COUNT_ORDERS,
  COUNT_INBOX,
  MEASURE_OUTBOX,
  COUNT_DEAD,
  LIST_ENDED,
  LIST_FORGETTABLE,
  DROP_EVENTS,
  FIND_FORGOTTEN,
  FIND_SETTLED,
  DROP_DELIVERED,
  DROP_RESULTS,
} as const;
