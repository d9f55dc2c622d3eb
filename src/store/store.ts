import {
  CACHE_LIMITS,
  type CacheLimits,
  type OrderStore,
  type OutboxStore,
  type ResultCache,
  type RunStore,
  type StoreClock,
  type WatchableEventLog,
  type CachedResult,
  readEventRange,
} from './ports/index.js';
import type { QueueNotifications, Dialect, Database } from './driver.js';
import { createBudgets, type Budgets } from './sql/budgets.js';
import { createFleet, type JobLeases, type Fleet } from './sql/fleet.js';
import { createRetention, type Retention } from './sql/retention.js';
import { createStatistics, type Statistics } from './sql/statistics.js';
import { createMaintenance, type Maintenance } from './sql/maintenance.js';
import { createPlacedRuns, type PlacedRuns } from './sql/placements.js';
import { SEARCH_WINDOW } from './page.js';
import { createOrders } from './sql/orders.js';
import { createOutbox } from './sql/outbox.js';
import { createRuns } from './sql/runs.js';
import { readJson } from './rows.js';
import { packEvents } from '../events/index.js';
import { createNotHeldError } from './store-error.js';
import { joinRows, readEventPage, toRows, type EventRow } from './event-rows.js';

/** Everything that runs and orders need from a store. */
export interface Store
  extends
    OrderStore,
    OutboxStore,
    RunStore,
    WatchableEventLog,
    ResultCache,
    QueueNotifications,
    Maintenance,
    Retention,
    Statistics,
    PlacedRuns,
    Fleet,
    JobLeases,
    Budgets,
    StoreClock {
  /** Whether searches find words by an index. Without it, they read a bounded number of runs per page. */
  readonly hasWordIndex: boolean;
  /** Closes files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}

/** Options for opening a store. */
export interface StoreOptions {
  /** The size of the result cache; the oldest entries are deleted first. */
  readonly cache?: CacheLimits;
  /** How many runs or issues one search page reads; 10,000 by default. */
  readonly searchWindow?: number;
  /** The number of PostgreSQL connections, besides one for notifications: 2 to 1,000, 10 by default. */
  readonly pool?: number;
}

/** Assembles a store from the shared statements and one database's dialect. */
export function createStore(dialect: Dialect, { searchWindow = SEARCH_WINDOW, cache }: StoreOptions): Store {
  const { database } = dialect;
  return {
    ...createOrders(dialect, searchWindow),
    ...createOutbox(dialect),
    ...createRuns(dialect, searchWindow),
    ...createEventLog(dialect),
    ...createResultCache(database, { ...CACHE_LIMITS, ...cache }),
    ...createMaintenance(database),
    ...createRetention(database),
    ...createStatistics(database),
    ...createPlacedRuns(dialect),
    ...createFleet(dialect),
    ...createBudgets(database),
    hasWordIndex: dialect.findWord !== undefined,
    now: dialect.now,
    watchQueue: dialect.watchQueue,
    close: dialect.close,
  };
}

/** Creates the store's result cache methods; the oldest results are deleted first. */
function createResultCache(database: Database, limits: Required<CacheLimits>): ResultCache {
  return {
    async find(key) {
      const row = await database.get('SELECT entry FROM results WHERE key = $1', [key]);
      if (row === undefined) return undefined;
      try {
        return readJson(row, 'entry') as CachedResult;
      } catch {
        // An unreadable entry is a miss; the next result replaces it.
        return undefined;
      }
    },

    async cacheResult(key, entry) {
      const text = JSON.stringify(entry);
      const size = Buffer.byteLength(text);
      await database.transaction(async (session) => {
        // Deleted even if the new entry is too large: it is out of date.
        await session.run('DELETE FROM results WHERE key = $1', [key]);
        if (size > limits.bytes) return;
        await session.run(INSERT, [key, size, Date.parse(entry.cached_at) || 0, text]);
        await session.run(DELETE_OLDEST, [limits.entries, limits.bytes]);
      });
    },
  };
}

/** The conflict: another process has cached the same result meanwhile. */
const INSERT = `
  INSERT INTO results (key, bytes, cached_at, entry) VALUES ($1, $2, $3, $4)
  ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, cached_at = excluded.cached_at, entry = excluded.entry`;

const DELETE_OLDEST = `
  DELETE FROM results WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
      FROM results WINDOW newest AS (ORDER BY seq DESC)) AS cached
    WHERE place > $1 OR total > $2)`;

/** Creates the store's event log methods. Appends of many runs are gathered into one write. */
function createEventLog(dialect: Dialect): WatchableEventLog {
  const { database, addEvents, readBodies, announce, watchRun, eventWrites } = dialect;
  const append = createGatherer(async (rows: readonly EventRow[]) => {
    const lost = await addEvents(joinRows(rows));
    await announce({ runs: [...new Set(rows.map((row) => row.runId))] });
    return lost;
  }, eventWrites);
  return {
    async append(runId, events, packs = packEvents(events), heldBy) {
      database.checkOpen();
      const rows = toRows(runId, packs, heldBy);
      if (rows.length > 0) await append(rows);
    },

    async read(query) {
      const range = readEventRange(query);
      return readEventPage(await readBodies(query.runId, query.protocol, range), query.protocol, range);
    },

    watch: watchRun,
  };
}

interface PendingAppend {
  readonly rows: readonly EventRow[];
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The interval between two writes while more rows are expected. Rows of many runs share a transaction's cost. */
const GATHER_MS = 25;

/** A run that appended rows within this time is expected to append more. */
const ACTIVE_MS = 250;

const MAX_WRITE_CHARACTERS = 4 * 1024 * 1024;

/** Fewer rows are not worth two writes. */
const MIN_SPLIT_ROWS = 128;

/**
 * Gathers rows into one write. A write starts once every active run has submitted its rows or is waiting for earlier
 * rows, so a single run does not wait. Slow runs delay a write by at most {@link GATHER_MS}. With two concurrent writes,
 * one is prepared while the other waits for the disk. A run's rows are never in both, so readers find no gaps. `write`
 * returns the rows whose worker does not hold the run, which are not stored.
 */
export function createGatherer(
  write: (rows: readonly EventRow[]) => Promise<readonly EventRow[]>,
  maxWrites: number,
): (rows: readonly EventRow[]) => Promise<void> {
  let waiting: PendingAppend[] = [];
  /** Runs whose rows are being written. */
  const busy = new Set<string>();
  /** When each run last appended rows, oldest first. */
  const active = new Map<string, number>();
  let writes = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const waitingRuns = new Set<string>();

  /** Schedules the next write, unless one is scheduled or enough are in progress. */
  function scheduleWrite(): void {
    if (writes >= maxWrites || waiting.length === 0 || immediate !== undefined) return;
    const now = performance.now();
    for (const [runId, last] of active) {
      if (last > now - ACTIVE_MS) break;
      active.delete(runId);
    }
    const delay = waitingRuns.size + busy.size >= active.size ? 0 : lastStart + GATHER_MS - now;
    if (delay > 0) {
      // A write does not clear it, because setting it again for every write would take longer.
      timer ??= setTimeout(() => {
        timer = undefined;
        scheduleWrite();
      }, delay);
      return;
    }
    // After this turn of the event loop, during which more rows can arrive.
    immediate = setImmediate(start);
  }

  function start(): void {
    immediate = undefined;
    const batch = takeBatch();
    // All waiting rows belong to runs that are being written; the end of that write schedules the next.
    if (batch.length === 0) return;
    const runs = new Set(batch.flatMap(listRuns));
    for (const run of runs) {
      busy.add(run);
      waitingRuns.delete(run);
    }
    writes += 1;
    lastStart = performance.now();
    void finish(batch, runs);
    scheduleWrite();
  }

  /** Takes the oldest entries of runs that are not being written; half of them if many are waiting. */
  function takeBatch(): PendingAppend[] {
    const rows = waiting.reduce((sum, entry) => sum + entry.rows.length, 0);
    const maxRows =
      writes + 1 < maxWrites && rows >= MIN_SPLIT_ROWS ? Math.ceil(rows / maxWrites) : Number.POSITIVE_INFINITY;
    const batch: PendingAppend[] = [];
    const remaining: PendingAppend[] = [];
    const held = new Set(busy);
    let [size, count] = [0, 0];
    for (const entry of waiting) {
      const isFull = batch.length > 0 && (size + entry.size > MAX_WRITE_CHARACTERS || count >= maxRows);
      if (isFull || entry.rows.some(({ runId }) => held.has(runId))) {
        for (const run of listRuns(entry)) held.add(run);
        remaining.push(entry);
        continue;
      }
      batch.push(entry);
      size += entry.size;
      count += entry.rows.length;
    }
    waiting = remaining;
    return batch;
  }

  async function finish(batch: readonly PendingAppend[], runs: ReadonlySet<string>): Promise<void> {
    try {
      const lost = await write(batch.flatMap(({ rows }) => rows));
      for (const { rows, resolve, reject } of batch) {
        const isLost = lost.some(({ runId, heldBy }) =>
          rows.some((row) => row.runId === runId && row.heldBy === heldBy),
        );
        if (isLost) reject(createNotHeldError());
        else resolve();
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    writes -= 1;
    for (const run of runs) busy.delete(run);
    for (const entry of waiting) for (const run of listRuns(entry)) if (runs.has(run)) waitingRuns.add(run);
    scheduleWrite();
  }

  return async (rows) =>
    new Promise((resolve, reject) => {
      const size = rows.reduce((total, { lines }) => total + lines.length, 0);
      waiting.push({ rows, size, resolve, reject });
      for (const { runId } of rows) {
        if (!busy.has(runId)) waitingRuns.add(runId);
        active.delete(runId);
        active.set(runId, performance.now());
      }
      scheduleWrite();
    });
}

function listRuns({ rows }: PendingAppend): string[] {
  return rows.map(({ runId }) => runId);
}
