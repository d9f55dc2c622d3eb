import { randomUUID } from 'node:crypto';
import { createStore } from '../store.js';
import type { Dialect, Row } from '../driver.js';
import type { Store, StoreOptions } from '../store.js';
import { measureClock } from './clock.js';
import type { DatabaseClock } from './clock.js';
import { openDatabase } from './database.js';
import type { PostgresDatabase } from './database.js';
import { createEvents } from './events.js';
import { migrate } from './migrate.js';
import { createNotifications } from './notifications.js';
import type { RunClaim } from '../ports/index.js';
import type { Queryable } from './driver.js';

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

/**
 * Each round waits for another worker's claim, or parks a hundred runs: marks them to be skipped while their folder is
 * in use. After this many rounds, the next wake-up continues.
 */
const MAX_ROUNDS = 1000;

/** `sluice.claim_run` is in `tables.ts`. One call is one transaction, which commits before its result is returned. */
const CLAIM = `
  SELECT (claimed.run).*, contended, is_more
  FROM sluice.claim_run($1, $2, $3, $4, $5, $6, $7::text[], $8::text[], $9::double precision[], $10, $11, $12, $13, $14, $15) AS claimed`;

/** Claims the next run; returns its row. `listener` is the number that this process's watchers are registered with. */
async function claimNext(
  database: Queryable,
  listener: string | null,
  { worker, leaseMs, now, kinds, concurrency = {}, workerTypes, watcher, isLast = false }: RunClaim,
): Promise<Row | undefined> {
  const limits = Object.entries(concurrency);
  const values = [
    worker.worker_id,
    worker.host,
    worker.pid,
    worker.pid_started,
    now + leaseMs,
    now,
    workerTypes ?? null,
    limits.map(([type]) => type),
    limits.map(([, limit]) => limit),
    kinds?.includes('orders') !== false,
    kinds?.includes('runs') !== false,
    watcher === undefined ? null : listener,
    watcher ?? null,
    isLast,
  ];
  let waitFor: unknown = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { rows } = await database.query(CLAIM, [...values, waitFor]);
    const [row] = rows;
    if (row === undefined || typeof row['id'] === 'string') return row;
    waitFor = row['contended'];
    if (waitFor === null && row['is_more'] !== true) return undefined;
  }
  return undefined;
}
