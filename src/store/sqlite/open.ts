import { createStore } from '../store.js';
import type { Dialect } from '../driver.js';
import { STORED_TABLES } from '../sql/tables.js';
import type { Store, StoreOptions } from '../store.js';
import { createWakers, formatRequestsKey, QUEUE } from '../wakers.js';
import { openDatabase } from './database.js';
import type { DatabaseOptions, SqliteDatabase } from './database.js';
import { createEvents } from './events.js';
import { createPoller } from './poller.js';
import { createClaimNext } from './queue.js';

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
