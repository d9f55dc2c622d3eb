import { join } from 'node:path';
import { findDataFolder } from '../base/files/index.js';
import { openSqliteStore } from './sqlite/open.js';
import { SluiceError } from '../base/index.js';
import type { Store, StoreOptions } from './store.js';
import { StoreError } from './store-error.js';
import { backUpFile, type Backup, type BackupOptions } from './sqlite/back-up-file.js';

/**
 * Opens the store at a URL, by default a SQLite file in this project's data folder. Creates the file, folder and tables
 * if missing.
 *
 * | URL | store |
 * | --- | --- |
 * | `sqlite:FILE` | one file, any number of processes on one host |
 * | `postgres://…` | any number of hosts; needs the package `pg` |
 * | `memory:`, `sqlite::memory:` | SQLite without a file, lost when it is closed |
 *
 * @example
 * const store = await openStore()
 * const { record } = await store.submitOrder({ request, workerType: 'script', run, spec, makeRunId, now: Date.now() })
 * await store.close()
 */
export async function openStore(
  url: string = `sqlite:${join(findDataFolder(), 'sluice.db')}`,
  options: StoreOptions = {},
): Promise<Store> {
  checkPool(options.pool);
  const file = url === 'memory:' ? ':memory:' : /^sqlite:(?<file>.+)$/s.exec(url)?.groups?.['file'];
  if (file !== undefined) return openSqliteStore(file, options);
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    // Loaded on demand, so SQLite users need not install a PostgreSQL client.
    const { openPostgresStore } = await import('./postgres/open.js');
    return openPostgresStore(url, options);
  }
  // The URL can contain a password, so the message omits it.
  throw new StoreError('INVALID_STORE_URL', 'Invalid store URL. Use sqlite:FILE, postgres://… or memory:.');
}

/** Opening a store takes two concurrent connections. */
const MIN_POOL_SIZE = 2;
const MAX_POOL_SIZE = 1000;

function checkPool(pool: number | undefined): void {
  if (pool === undefined || (Number.isInteger(pool) && pool >= MIN_POOL_SIZE && pool <= MAX_POOL_SIZE)) return;
  throw new SluiceError('INVALID_OPTION', `Invalid pool: use an integer from ${MIN_POOL_SIZE} to ${MAX_POOL_SIZE}.`);
}

/**
 * Copies a store's database to a file while it is in use. The copy contains everything acknowledged before the call,
 * and is opened and verified. Run folders are not included.
 *
 * @example
 * await backUpStore('sqlite:/srv/sluice/sluice.db', 'backups/monday.db') // { file, bytes }
 */
export async function backUpStore(url: string, target: string, options: BackupOptions = {}): Promise<Backup> {
  if (/^sqlite:./s.test(url)) return backUpFile(url.slice('sqlite:'.length), target, options);
  throw new StoreError(
    'COPY_UNSUPPORTED',
    'Cannot back up this store: only a SQLite file can be copied. For PostgreSQL use pg_dump, which also works while the server is running.',
  );
}
