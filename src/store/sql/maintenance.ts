import type { Row, Session } from '../driver.js';
import { readNumber, readNumberOrNull, readRun, readText } from '../rows.js';
import type { Listed, Page } from '../ports/index.js';
import { listByTime } from './lists.js';
import type { OrderState, RunRecord, RunState } from '../records/index.js';

/** Counts work in the store and lists ended runs. Every method reads a bounded number of rows through an index. */
export interface Maintenance {
  /** Counts unfinished work. */
  countOpenWork(): Promise<OpenWorkCounts>;
  /** Lists runs that ended at `since` or later, in the order they ended. Times are milliseconds since 1970. */
  listEndedRuns(page: Page & { readonly since: number }): Promise<Listed<RunRecord>>;
  /** Claims runs or executions by id for one process's metrics. Returns those unclaimed within the last day. */
  claimForMetrics(claim: { readonly ids: readonly string[]; readonly now: number }): Promise<readonly string[]>;
  /** Returns the hosts that have claimed these runs, by run. */
  findHosts(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the ids of the given runs whose events were deleted. */
  findRunsWithoutEvents(ids: readonly string[]): Promise<readonly string[]>;
  /** Returns which of the runs ended before `endedBefore`, with settled orders. */
  findSettledRuns(filter: {
    readonly ids: readonly string[];
    readonly endedBefore: number;
  }): Promise<readonly string[]>;
}

/** How long a claim is kept, so a process that notices a run late does not count it again. */
export const COUNT_CLAIM_TTL_MS = 24 * 60 * 60 * 1000;
/** The maximum number of old claims that one call deletes. */
const MAX_CLAIMS_DELETED = 2000;

/** Counts of unfinished work. */
export interface OpenWorkCounts {
  readonly runs: Readonly<Record<Exclude<RunState, 'ended'>, number>>;
  readonly orders: Readonly<Record<Exclude<OrderState, 'settled' | 'canceled'>, number>>;
  /** Open inbox items. */
  readonly inbox: number;
  readonly outbox: {
    /** Not delivered yet. */
    readonly open: number;
    readonly dead: number;
    /** When the oldest open message was written. */
    readonly oldest: number | null;
  };
}

/** Creates the store's methods for counting work and listing ended runs. */
export function createMaintenance(session: Session): Maintenance {
  return {
    async countOpenWork() {
      const counts = (await session.all(COUNT_RUNS)).map(
        (row) => [readText(row, 'state'), readNumber(row, 'count')] as const,
      );
      const open = (await session.get(MEASURE_OPEN)) ?? {};
      const running = readNumber(open, 'running');
      return {
        runs: { queued: 0, running: 0, waiting: 0, ...Object.fromEntries(counts) },
        orders: { queued: readNumber(open, 'orders') - running, running },
        inbox: readNumber(open, 'inbox'),
        outbox: {
          open: readNumber(open, 'open'),
          dead: readNumber(open, 'dead'),
          oldest: readNumberOrNull(open, 'oldest'),
        },
      };
    },

    async claimForMetrics({ ids, now }) {
      if (ids.length === 0) return [];
      await session.run(DELETE_CLAIMS, [now - COUNT_CLAIM_TTL_MS]);
      return readIds(await session.all(CLAIM_FOR_METRICS, [JSON.stringify(ids), now]));
    },

    listEndedRuns: async (page) => listByTime(session, page, { sql: LIST_ENDED, column: 'ended_at' }, readRun),

    async findHosts(ids) {
      const rows = await session.all(FIND_HOSTS, [JSON.stringify(ids)]);
      return new Map(rows.map((row) => [readText(row, 'id'), readText(row, 'host')]));
    },

    findRunsWithoutEvents: async (ids) => readIds(await session.all(FIND_PURGED, [JSON.stringify(ids)])),

    findSettledRuns: async ({ ids, endedBefore }) =>
      readIds(await session.all(FIND_SETTLED, [JSON.stringify(ids), endedBefore])),
  };
}

function readIds(rows: readonly Row[]): string[] {
  return rows.map((row) => readText(row, 'id'));
}

export const COUNT_RUNS = `
  SELECT state, count(*) AS count FROM runs WHERE state IN ('queued', 'running', 'waiting') GROUP BY state`;

/** Reads only claimed runs and open races: in a long queue nearly all open orders are queued. */
export const MEASURE_OPEN = `
  SELECT
    (SELECT count(*) FROM orders WHERE settled_at IS NULL) AS orders,
    (SELECT count(*) FROM runs INDEXED BY runs_busy WHERE state IN ('running', 'waiting') AND order_run_id IS NOT NULL)
      + (SELECT count(*) FROM orders INDEXED BY orders_entered WHERE settled_at IS NULL AND entry IS NOT NULL) AS running,
    (SELECT count(*) FROM inbox WHERE resolution IS NULL) AS inbox,
    (SELECT count(*) FROM outbox INDEXED BY outbox_by_state WHERE state IN ('waiting', 'sending')) AS open,
    (SELECT created_at FROM outbox INDEXED BY outbox_open
     WHERE state IN ('waiting', 'sending') ORDER BY seq LIMIT 1) AS oldest,
    (SELECT count(*) FROM outbox WHERE state = 'dead') AS dead`;

/** Names the index because SQLite, without table statistics, would choose `runs_by_state` and sort every ended run. */
export const LIST_ENDED = `
  SELECT * FROM runs INDEXED BY runs_by_end
  WHERE state = 'ended' AND (ended_at, seq) > ($1, $2) ORDER BY ended_at, seq LIMIT $3`;

export const FIND_HOSTS = `
  SELECT id, host FROM runs WHERE id IN (SELECT wanted.value FROM each($1) AS wanted) AND host IS NOT NULL`;

export const FIND_PURGED = `
  SELECT id FROM runs WHERE id IN (SELECT wanted.value FROM each($1) AS wanted) AND purged_at IS NOT NULL`;

/** The `+ 0` and `|| ''` keep SQLite from an index of all ended runs. */
export const FIND_SETTLED = `
  SELECT id FROM runs
  WHERE id IN (SELECT wanted.value FROM each($1) AS wanted) AND state || '' = 'ended' AND ended_at + 0 < $2
    AND NOT EXISTS (
      SELECT 1 FROM orders
      WHERE orders.issue_ref = order_issue_ref AND orders.run_id = order_run_id AND orders.settled_at IS NULL)`;

export const DELETE_CLAIMS = `
  DELETE FROM counted WHERE id = ANY (ARRAY(
    SELECT id FROM counted WHERE at < $1 ORDER BY at LIMIT ${MAX_CLAIMS_DELETED} FOR UPDATE SKIP LOCKED))`;

/** Sorted by id, so two servers that claim the same ids do not deadlock. */
const CLAIM_FOR_METRICS = `
  INSERT INTO counted (id, at)
  SELECT claimed.value, $2::bigint FROM each($1) AS claimed WHERE true ORDER BY claimed.value
  ON CONFLICT DO NOTHING RETURNING id`;
