import { randomUUID } from 'node:crypto';
import { CACHE_LIMITS } from '../../runs/index.js';
import type { Store, StoreOptions } from '../store.js';
import { SEARCH_WINDOW } from '../page.js';
import { measureClock } from './clock.js';
import type { Context } from './context.js';
import { openDatabase } from './database.js';
import { createBudgets } from './budgets.js';
import { createJobLeases } from './job-leases.js';
import { createEventLog } from './event-log.js';
import { migrate } from './migrate.js';
import { createNotifications } from './notifications.js';
import { createFleet } from './fleet.js';
import { createRetention } from './retention.js';
import { createOrders } from './orders.js';
import { createOutbox } from './outbox.js';
import { createResultCache } from './result-cache.js';
import { createRuns } from './runs.js';
import { createStatistics } from './statistics.js';
import { createMaintenance } from './maintenance.js';

/** Opens a store that any number of hosts can share. Its tables are in the schema `sluice`. */
export async function openPostgresStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const database = await openDatabase(url, options.pool === undefined ? {} : { connections: options.pool });
  const notifications = createNotifications(database);
  try {
    await migrate(database);
    const clock = await measureClock(database);
    return createStore({ database, notifications, clock }, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function createStore(context: Context, options: StoreOptions): Store {
  const { database, notifications, clock } = context;
  const { searchWindow = SEARCH_WINDOW } = options;
  return {
    ...createOrders(context, searchWindow),
    ...createOutbox(context),
    ...createRuns(context, searchWindow),
    ...createEventLog(context),
    ...createResultCache(context, { ...CACHE_LIMITS, ...options.cache }),
    ...createMaintenance(context),
    ...createRetention(context),
    ...createStatistics(context),
    ...createFleet(context),
    ...createJobLeases(context),
    ...createBudgets(context),
    now: clock.now,
    watchQueue(wake, watcher = {}) {
      database.checkOpen();
      return notifications.watchQueue({ worker: randomUUID(), ...watcher }, wake);
    },
    async close() {
      await notifications.close();
      await database.close();
    },
  };
}
