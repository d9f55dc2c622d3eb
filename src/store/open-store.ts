import { openMemoryStore } from './memory/open.js';
import { openSqliteStore } from './sqlite/open.js';
import type { Store, StoreOptions } from './store.js';
import { StoreError } from './store-error.js';

/**
 * Opens the store an address names; what is missing (file, folder, tables) is made.
 *
 * | address | store |
 * | --- | --- |
 * | `sqlite:FILE` | one file, any number of processes of one machine |
 * | `postgres://…` | any number of machines; needs the packages `pg` and `pg-boss` |
 * | `memory:` | gone with the process |
 *
 * @example
 * const store = await openStore('sqlite:.sluice/sluice.db')
 * const { record } = await store.submitOrder({ request, workerType: 'script', run, runIdOf, now: Date.now() })
 * await store.close()
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  if (url === 'memory:') return openMemoryStore(options);
  if (/^sqlite:./s.test(url)) return openSqliteStore(url.slice('sqlite:'.length), options);
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    // Loaded when used: whoever has one machine does not install a client for PostgreSQL.
    const { openPostgresStore } = await import('./postgres/open.js');
    return openPostgresStore(url, options);
  }
  // The address may hold a password: the message does not repeat it.
  throw new StoreError('INVALID_STORE_URL', 'the address of a store is sqlite:FILE, postgres://… or memory:');
}
