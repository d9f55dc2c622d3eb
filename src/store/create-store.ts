import type { Dialect } from './driver.js';
import { SEARCH_WINDOW } from './page.js';
import { CACHE_LIMITS } from './ports/index.js';
import { createBudgets } from './sql/budgets.js';
import { createEventLog } from './sql/event-log.js';
import { createFleet } from './sql/fleet.js';
import { createMaintenance } from './sql/maintenance.js';
import { createOrders } from './sql/orders.js';
import { createOutbox } from './sql/outbox.js';
import { createResultCache } from './sql/result-cache.js';
import { createRetention } from './sql/retention.js';
import { createRuns } from './sql/runs.js';
import { createStatistics } from './sql/statistics.js';
import type { Store, StoreOptions } from './store.js';

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
    ...createFleet(dialect),
    ...createBudgets(database),
    now: dialect.now,
    watchQueue: dialect.watchQueue,
    close: dialect.close,
  };
}
