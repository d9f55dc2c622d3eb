import { formatEndCursor, readEndPage, toListed } from '../page.js';
import { MAX_CLAIMS_DELETED, COUNT_CLAIM_TTL_MS, countStates, OPEN_RUN_STATES } from '../maintenance.js';
import type { Maintenance } from '../maintenance.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger, readIntegerOrNull, readText, readRun } from './rows.js';

/** Creates the store's methods for counting work and listing ended runs. */
export function createMaintenance(database: Database): Maintenance {
  const runs = database.prepare(COUNT_RUNS);
  const orders = database.prepare(COUNT_ORDERS);
  const runningOrders = database.prepare(COUNT_RUNNING_ORDERS);
  const inbox = database.prepare(COUNT_INBOX);
  const outbox = database.prepare(MEASURE_OUTBOX);
  const dead = database.prepare(COUNT_DEAD);
  const ended = database.prepare(LIST_ENDED);
  const purged = database.prepare(FIND_PURGED);
  const hosts = database.prepare(FIND_HOSTS);
  const settled = database.prepare(FIND_SETTLED);
  const claim = database.prepare(CLAIM_FOR_METRICS);
  const deleteClaims = database.prepare(DELETE_CLAIMS);

  return {
    countOpenWork: async () =>
      database.read(() => {
        const open = outbox.get() ?? {};
        const running = readInteger(runningOrders.get() ?? {}, 'count');
        const queued = readInteger(orders.get() ?? {}, 'count') - running;
        return {
          runs: countStates(OPEN_RUN_STATES, runs.all().map(readCount)),
          orders: { queued, running },
          inbox: readInteger(inbox.get() ?? {}, 'count'),
          outbox: {
            open: readInteger(open, 'count'),
            dead: readInteger(dead.get() ?? {}, 'count'),
            oldest: readIntegerOrNull(open, 'oldest'),
          },
        };
      }),

    async claimForMetrics({ ids, now }) {
      if (ids.length === 0) return [];
      return database.write(() => {
        deleteClaims.run(now - COUNT_CLAIM_TTL_MS);
        return claim.all(now, JSON.stringify(ids)).map((row) => readText(row, 'id'));
      });
    },

    listEndedRuns: async (page) =>
      database.read(() => {
        const { size, after } = readEndPage(page);
        const rows = ended.all(after.endedAt, after.sequence, size + 1);
        return toListed(rows, { size }, readRun, formatCursor);
      }),

    findHosts: async (ids) =>
      database.read(
        () => new Map(hosts.all(JSON.stringify(ids)).map((row) => [readText(row, 'id'), readText(row, 'host')])),
      ),

    findRunsWithoutEvents: async (ids) =>
      database.read(() => purged.all(JSON.stringify(ids)).map((row) => readText(row, 'id'))),
    findSettledRuns: async ({ ids, endedBefore }) =>
      database.read(() => settled.all(JSON.stringify(ids), endedBefore).map((row) => readText(row, 'id'))),
  };
}

function formatCursor(row: SqlRow): string {
  return formatEndCursor({ endedAt: readInteger(row, 'ended_at'), sequence: readInteger(row, 'sequence') });
}

function readCount(row: SqlRow): [state: string, count: number] {
  return [readText(row, 'state'), readInteger(row, 'count')];
}

const COUNT_RUNS = `SELECT state, count(*) AS count FROM runs WHERE state IN ('queued', 'running', 'waiting') GROUP BY state`;
const COUNT_ORDERS = 'SELECT count(*) AS count FROM orders WHERE settled_at IS NULL';
/** Reads only claimed runs and runs of open races, because in a long queue nearly all open orders are queued. */
const COUNT_RUNNING_ORDERS = `
  SELECT (
    SELECT count(*) FROM runs INDEXED BY runs_busy WHERE state IN ('running', 'waiting') AND order_run_id IS NOT NULL
  ) + (
    SELECT count(*) FROM orders INDEXED BY orders_entered WHERE settled_at IS NULL AND entry IS NOT NULL
  ) AS count`;
const COUNT_INBOX = 'SELECT count(*) AS count FROM inbox WHERE resolution IS NULL';
const MEASURE_OUTBOX = `
  SELECT count(*) AS count, (
    SELECT created_at FROM outbox INDEXED BY outbox_open WHERE state IN ('waiting', 'sending') ORDER BY sequence LIMIT 1
  ) AS oldest
  FROM outbox INDEXED BY outbox_by_state WHERE state IN ('waiting', 'sending')`;
const COUNT_DEAD = `SELECT count(*) AS count FROM outbox WHERE state = 'dead'`;

/** Names the index because SQLite, without table statistics, would choose `runs_by_state` and sort every ended run. */
const LIST_ENDED = `
  SELECT * FROM runs INDEXED BY runs_by_end
  WHERE state = 'ended' AND (ended_at, sequence) > (?, ?)
  ORDER BY ended_at, sequence LIMIT ?`;

const FIND_HOSTS = `
  SELECT id, host FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND host IS NOT NULL`;

const FIND_PURGED = `
  SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND forgotten_at IS NOT NULL`;

const FIND_SETTLED = `
  SELECT id FROM runs
  WHERE id IN (SELECT value FROM json_each(?)) AND +state = 'ended' AND +ended_at < ?
    AND NOT EXISTS (
      SELECT 1 FROM orders
      WHERE orders.issue_ref = order_issue_ref AND orders.run_id = order_run_id
        AND orders.settled_at IS NULL)`;

const CLAIM_FOR_METRICS = `
  INSERT INTO counted (id, at) SELECT value, ? FROM json_each(?) WHERE true ON CONFLICT DO NOTHING RETURNING id`;

const DELETE_CLAIMS = `
  DELETE FROM counted WHERE id IN (SELECT id FROM counted WHERE at < ? ORDER BY at LIMIT ${MAX_CLAIMS_DELETED})`;

export const MAINTENANCE_STATEMENTS = {
  COUNT_RUNS,
  COUNT_ORDERS,
  COUNT_RUNNING_ORDERS,
  COUNT_INBOX,
  MEASURE_OUTBOX,
  COUNT_DEAD,
  LIST_ENDED,
  FIND_HOSTS,
  FIND_PURGED,
  FIND_SETTLED,
  DELETE_CLAIMS,
} as const;
