import { backUpFile } from './sqlite/back-up-file.js';
import type { Backup, BackupOptions } from './sqlite/back-up-file.js';
import { StoreError } from './store-error.js';

/**
 * Copies the database of a store to a file while it is in use. The copy contains everything that was acknowledged before the
 * call, and it is opened and checked. Run folders are not part of it.
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
