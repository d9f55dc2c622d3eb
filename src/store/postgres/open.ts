import { randomUUID } from 'node:crypto';
import { createStore } from '../create-store.js';
import type { Dialect } from '../driver.js';
import type { Store, StoreOptions } from '../store.js';
import { claimNext } from './claim.js';
import { measureClock } from './clock.js';
import type { DatabaseClock } from './clock.js';
import { openDatabase } from './database.js';
import type { PostgresDatabase } from './database.js';
import { createEvents } from './events.js';
import { migrate } from './migrate.js';
import { createNotifications } from './notifications.js';

/** Opens a store that any number of hosts can share. Its tables are in the schema `sluice`. */
export async function openPostgresStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const database = await openDatabase(url, options.pool === undefined ? {} : { connections: options.pool });
  try {
    await migrate(database);
    return createStore(createDialect(database, await measureClock(database)), options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function createDialect(database: PostgresDatabase, clock: DatabaseClock): Dialect {
  const notifications = createNotifications(database);
  return {
    database,
    now: clock.now,
    synchronizeClock: clock.synchronize,
    claimNext: async (claim) => claimNext(database, notifications.listener, claim),
    ...createEvents(database),
    // Triggers announce everything else, in the same transaction.
    async announce({ messages = false }) {
      if (messages) await database.query('SELECT sluice.wake_deliverer()');
    },
    watchRun(runId, wake) {
      database.checkOpen();
      return notifications.follow(runId, wake);
    },
    watchRequests(runId, wake) {
      database.checkOpen();
      return notifications.watchRequests(runId, wake);
    },
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
