import { StoreError } from '../store-error.js';
import { damaged } from './database-error.js';
import type { Connection } from './driver.js';
import { MIGRATIONS } from './migrations.js';

/** Marks a file as ours: "SLCE" in four bytes. */
const APPLICATION_ID = 0x53_4c_43_45;

/**
 * Brings the tables to the newest form, one transaction a step. A file that a newer Sluice has used, or another program,
 * is left alone.
 */
export function migrate(connection: Connection, file: string): void {
  checkOwner(connection, file);
  while (readVersion(connection, file) < MIGRATIONS.length) {
    connection.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have been faster: only under the lock is the version what it says.
      const version = readVersion(connection, file);
      const step = MIGRATIONS[version];
      if (step !== undefined) {
        connection.exec(step);
        connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        connection.exec(`PRAGMA user_version = ${version + 1}`);
      }
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Refuses a file that is not ours, or in a form this version does not know; changes nothing. */
export function checkForm(connection: Connection, file: string): void {
  checkOwner(connection, file);
  readVersion(connection, file);
}

function checkOwner(connection: Connection, file: string): void {
  const owner = connection.prepare('PRAGMA application_id').get()?.['application_id'];
  if (owner === APPLICATION_ID) return;
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  // Read again: the tables may have been made by another process in between, together with the mark.
  if (isEmpty || connection.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID) return;
  throw new StoreError('INVALID_STORE_URL', `${file} is the database of another program: name another file`);
}

function readVersion(connection: Connection, file: string): number {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
  // No step would ever lead from there to the newest form.
  if (!(version >= 0)) throw damaged(file, new Error(`it has form ${version}`));
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'STORE_TOO_NEW',
      `the database ${file} has form ${version} and this Sluice knows ${MIGRATIONS.length}: use the newer Sluice that wrote it`,
    );
  }
  return version;
}
