import { backUpFile } from './sqlite/back-up-file.js';
import type { Backup, BackupOptions } from './sqlite/back-up-file.js';
import { StoreError } from './store-error.js';

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
    'BACKUP_UNSUPPORTED',
    'Cannot back up this store: only a SQLite file can be copied. For PostgreSQL use pg_dump, which also works while the server is running.',
  );
}
