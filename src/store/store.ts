import { CACHE_LIMITS } from './ports/index.js';
import type {
  CacheLimits,
  OrderStore,
  OutboxStore,
  ResultCache,
  RunStore,
  StoreClock,
  WatchableEventLog,
} from './ports/index.js';
import type { QueueNotifications, Dialect } from './driver.js';
import { createBudgets } from './sql/budgets.js';
import type { Budgets } from './sql/budgets.js';
import { createFleet } from './sql/fleet.js';
import type { JobLeases, Fleet } from './sql/fleet.js';
import { createRetention } from './sql/retention.js';
import type { Retention } from './sql/retention.js';
import { createStatistics } from './sql/statistics.js';
import type { Statistics } from './sql/statistics.js';
import { createMaintenance } from './sql/maintenance.js';
import type { Maintenance } from './sql/maintenance.js';
import { SEARCH_WINDOW } from './page.js';
import { createEventLog } from './sql/event-log.js';
import { createOrders } from './sql/orders.js';
import { createOutbox } from './sql/outbox.js';
import { createResultCache } from './sql/result-cache.js';
import { createRuns } from './sql/runs.js';

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
    Fleet,
    JobLeases,
    Budgets,
    StoreClock {
  /** Closes files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}

/** Options for opening a store. */
export interface StoreOptions {
  /** The size of the result cache; the oldest entries are deleted first. */
  readonly cache?: CacheLimits;
  /** How many runs or issues one search page reads; 10,000 by default. */
  readonly searchWindow?: number;
  /**
   * The maximum number of PostgreSQL connections, besides the connection for notifications: from 2 to 1,000, 10 by
   * default.
   */
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
    ...createFleet(dialect),
    ...createBudgets(database),
    now: dialect.now,
    watchQueue: dialect.watchQueue,
    close: dialect.close,
  };
}
