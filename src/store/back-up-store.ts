import { backUpFile } from './sqlite/back-up-file.js';
import type { Backup } from './sqlite/back-up-file.js';
import { StoreError } from './store-error.js';

/**
 * Copies the database of a store into a file, while others use it. The copy is whole: everything acknowledged before the
 * call is in it, and it was opened and checked. Run folders are no part of it.
 *
 * @example
 * await backUpStore('sqlite:.sluice/sluice.db', 'backups/monday.db') // { file, bytes }
 */
export async function backUpStore(url: string, target: string): Promise<Backup> {
  if (/^sqlite:./s.test(url)) return backUpFile(url.slice('sqlite:'.length), target);
  throw new StoreError(
    'BACKUP_UNSUPPORTED',
    'only a SQLite file can be backed up here; for PostgreSQL use pg_dump, which does so while the server runs',
  );
}
