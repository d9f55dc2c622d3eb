import { createStore } from '../store.js';
import type { Store, StoreOptions } from '../store.js';
import type { Dialect } from '../driver.js';
import { STORED_TABLES } from '../sql/schema.js';
import { createWakers, formatRequestsKey, QUEUE, readRequestsKey } from '../wakers.js';
import type { Wakers } from '../wakers.js';
import { openDatabase } from './database.js';
import type { DatabaseOptions, SqliteDatabase } from './database.js';
import { createEvents } from './events.js';
import { createClaimNext } from './queue.js';
import { createClosedError } from '../store-error.js';

/** Opens a store in one file, which any number of processes on one host can use concurrently. */
export async function openSqliteStore(file: string, options: StoreOptions & DatabaseOptions = {}): Promise<Store> {
  const database = await openDatabase(file, options);
  try {
    return createStore(createDialect(database), options);
  } catch (error) {
    database.close();
    throw error;
  }
}

function createDialect(database: SqliteDatabase): Dialect {
  // A missing table means that the file is damaged.
  for (const { name } of STORED_TABLES) database.prepare(`SELECT 1 FROM ${name}`);
  const wakers = createWakers();
  const poller = createPoller(database, wakers);
  return {
    database,
    now: Date.now,
    synchronizeClock: async () => undefined,
    claimNext: createClaimNext(database),
    ...createEvents(database),
    async announce({ queue = false, messages = false, runs = [], requests = [] }) {
      for (const run of requests) wakers.wake(formatRequestsKey(run));
      for (const run of runs) wakers.wake(run);
      if (queue || messages) wakers.wake(QUEUE);
    },
    watchRun: (runId, wake) => poller.watch(runId, wake),
    watchRequests: (runId, wake) => poller.watch(formatRequestsKey(runId), wake),
    watchQueue: (wake) => poller.watch(QUEUE, wake),
    async close() {
      poller.close();
      database.close();
    },
  };
}

/** Wakes watchers after writes by this and other processes. */
interface Poller {
  watch(key: string, wake: () => void): () => void;
  close(): void;
}

/** SQLite has no notifications, so a watcher in another process can be woken this late. */
const POLL_MS = 50;

/**
 * Creates a poller that checks at short intervals whether another connection has written. If so, it wakes the workers
 * and the watchers of runs that have new events or requests, or have ended. Writes by this process wake its watchers
 * immediately.
 */
function createPoller(database: SqliteDatabase, wakers: Wakers): Poller {
  const readVersion = database.prepare('PRAGMA data_version');
  const findProgress = database.prepare(`
    SELECT (SELECT max(last_seq) FROM event_packs WHERE run_id = ?1 AND protocol = 'fcmp' AND attempt = 0) AS fcmp,
      (SELECT attempt || ':' || last_seq FROM event_packs WHERE run_id = ?1 AND protocol = 'rasp'
       ORDER BY attempt DESC, last_seq DESC LIMIT 1) AS rasp,
      (SELECT state FROM runs WHERE id = ?1) AS state, (SELECT settled_at FROM orders WHERE run = ?1) AS settled_at`);
  const readProgress = (runId: string): string => {
    const row = findProgress.get(runId) ?? {};
    return JSON.stringify([row['fcmp'], row['rasp'], row['state'], row['settled_at']]);
  };
  const findRequests = database.prepare(
    'SELECT cancel_requested, reply FROM runs WHERE id = ? AND (cancel_requested OR reply IS NOT NULL)',
  );
  const readRequests = (run: string): string => JSON.stringify(findRequests.get(run) ?? null);
  const NO_REQUESTS = JSON.stringify(null);
  /** The last values read for each key: a run's last events and state, or the requests to it. */
  const seen = new Map<string, string>();
  let version: unknown;
  /** Whether watchers were added since the last poll. */
  let hasNewWatchers = false;
  let isPolling = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function poll(): void {
    const latest = readVersion.get()?.['data_version'];
    if (latest === version && !hasNewWatchers) return;
    for (const key of wakers.keys()) {
      if (key === QUEUE) {
        // The watchers of other keys come and go with every run: they are no reason to look for work.
        if (latest !== version || !seen.has(QUEUE)) wakers.wake(QUEUE);
        seen.set(QUEUE, '');
        continue;
      }
      const run = readRequestsKey(key);
      const current = run === undefined ? readProgress(key) : readRequests(run);
      // A new watcher of requests needs no call if there are none; that would cost every run a transaction.
      if (current !== (seen.get(key) ?? (run === undefined ? undefined : NO_REQUESTS))) wakers.wake(key);
      seen.set(key, current);
    }
    // Set last: if reading failed because the file is locked, the next poll repeats it.
    version = latest;
    hasNewWatchers = false;
  }

  /** Starts a poll unless one is running: while the file is locked, polls would wait and accumulate. */
  function startPoll(): void {
    if (isPolling) return;
    isPolling = true;
    void database
      .read(poll)
      .catch(() => undefined)
      .finally(() => (isPolling = false));
  }

  return {
    watch(key, wake) {
      if (isClosed) throw createClosedError();
      const stop = wakers.watch(key, wake);
      // Writes before a watcher was added might have been missed, so the next poll wakes it.
      hasNewWatchers = true;
      if (timer === undefined) version = undefined;
      timer ??= setInterval(startPoll, POLL_MS).unref();
      return () => {
        stop();
        const keys = wakers.keys();
        if (!keys.includes(key)) seen.delete(key);
        if (keys.length === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      wakers.clear();
    },
  };
}
