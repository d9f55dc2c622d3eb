import { CACHE_LIMITS } from '../../runs/index.js';
import type { Store, StoreOptions } from '../store.js';
import { SEARCH_WINDOW } from '../page.js';
import { createWakers, QUEUE } from '../wakers.js';
import { openDatabase, type Database, type DatabaseOptions } from './database.js';
import { toDamagedError } from './database-error.js';
import { createBudgets } from './budgets.js';
import { createJobLeases } from './job-leases.js';
import { createEventLog } from './event-log.js';
import { createFleet } from './fleet.js';
import { createRetention } from './retention.js';
import { createOrders } from './orders.js';
import { createOutbox } from './outbox.js';
import { createPoller } from './poller.js';
import { createResultCache } from './result-cache.js';
import { createRuns } from './runs.js';
import { createStatistics } from './statistics.js';
import { createMaintenance } from './maintenance.js';

/** Opens a store in one file, which any number of processes on one host can use concurrently. */
export async function openSqliteStore(file: string, options: StoreOptions & DatabaseOptions = {}): Promise<Store> {
  const database = await openDatabase(file, options);
  try {
    return createStore(database, options);
  } catch (error) {
    database.close();
    throw toDamagedError(error, file);
  }
}

/** Prepares every frequent statement, which also checks that the tables have the expected columns. */
function createStore(database: Database, options: StoreOptions): Store {
  const wakers = createWakers();
  const { searchWindow = SEARCH_WINDOW } = options;
  const poller = createPoller(database, wakers);
  return {
    ...createOrders(database, wakers, searchWindow),
    ...createOutbox(database, wakers),
    ...createRuns(database, wakers, poller, searchWindow),
    ...createEventLog(database, wakers, poller),
    ...createResultCache(database, { ...CACHE_LIMITS, ...options.cache }),
    ...createMaintenance(database),
    ...createRetention(database),
    ...createStatistics(database),
    ...createFleet(database),
    ...createJobLeases(database),
    ...createBudgets(database),
    now: Date.now,
    watchQueue: (wake) => poller.watch(QUEUE, wake),
    async close() {
      poller.close();
      database.close();
    },
  };
}
