import { CACHE_LIMITS } from '../../runs/index.js';
import type { Store, StoreOptions } from '../store.js';
import { SEARCH_WINDOW } from '../page.js';
import { QUEUE } from '../wakers.js';
import { createBudgets } from './budgets.js';
import { createJobLeases } from './job-leases.js';
import { createEventLog } from './event-log.js';
import { createFleet } from './fleet.js';
import { createRetention } from './retention.js';
import { createOrders } from './orders.js';
import { createOutbox } from './outbox.js';
import { createResultCache } from './result-cache.js';
import { createRuns } from './runs.js';
import { checkOpen, createTables } from './tables.js';
import { createStatistics } from './statistics.js';
import { createMaintenance } from './maintenance.js';

/** Opens an in-memory store, for tests and as the model that the other stores are compared with. */
export function openMemoryStore(options: StoreOptions = {}): Store {
  const tables = createTables();
  const { searchWindow = SEARCH_WINDOW } = options;
  return {
    ...createOrders(tables, searchWindow),
    ...createOutbox(tables),
    ...createRuns(tables, searchWindow),
    ...createEventLog(tables),
    ...createResultCache(tables, { ...CACHE_LIMITS, ...options.cache }),
    ...createMaintenance(tables),
    ...createRetention(tables),
    ...createStatistics(tables),
    ...createFleet(tables),
    ...createJobLeases(tables),
    ...createBudgets(tables),
    now: Date.now,
    watchQueue(wake) {
      checkOpen(tables);
      return tables.wakers.watch(QUEUE, wake);
    },
    async close() {
      tables.isClosed = true;
      tables.wakers.clear();
    },
  };
}
