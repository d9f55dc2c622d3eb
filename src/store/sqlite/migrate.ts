import {
  createIncompleteError,
  createMigratedError,
  createOutdatedError,
  createTooNewError,
  TRANSFER_SCHEMA_VERSION,
} from '../schema-version.js';
import type { SchemaStep } from '../sql/schema.js';
import { SCHEMA_STEPS } from '../sql/schema.js';
import { StoreError } from '../store-error.js';
import { createDamagedError } from './database-error.js';
import type { Connection } from './driver.js';
import { SQLITE_SCHEMA } from './tables.js';

/** Marks a file as a Sluice database: "SLC1" in four bytes. */
const APPLICATION_ID = 0x53_4c_43_31;
/** The mark of unpublished versions, whose tables differ: "SLCE". */
const UNPUBLISHED_ID = 0x53_4c_43_45;

/**
 * Migrates the tables to the newest schema version, one transaction per step. A file used by a newer version of Sluice
 * or by another application is not changed.
 */
export function migrate(connection: Connection, file: string, steps: readonly SchemaStep[] = SCHEMA_STEPS): void {
  checkOwner(connection, file);
  while (readVersion(connection, file, steps.length) < steps.length) {
    connection.exec('BEGIN IMMEDIATE');
    try {
      // Another process might have migrated first, so the version is read again under the lock.
      const version = readVersion(connection, file, steps.length);
      const step = steps[version];
      if (step !== undefined) {
        connection.exec(step(SQLITE_SCHEMA));
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

/** Creates a check, for use inside a write transaction, that no newer version has migrated the tables. */
export function createVersionCheck(connection: Connection, file: string, supported: number): () => void {
  const readSchemaVersion = connection.prepare('PRAGMA user_version');
  return () => {
    if (readSchemaVersion.get()?.['user_version'] !== supported) throw createMigratedError(`the database "${file}"`);
  };
}

/** Rejects another application's file, or an unknown schema version; changes nothing. */
export function checkVersion(connection: Connection, file: string): void {
  checkOwner(connection, file);
  readVersion(connection, file, SCHEMA_STEPS.length);
}

/** Rejects another application's file; changes nothing. */
function checkOwner(connection: Connection, file: string): void {
  const owner = connection.prepare('PRAGMA application_id').get()?.['application_id'];
  if (owner === APPLICATION_ID) return;
  if (owner === UNPUBLISHED_ID) throw createOutdatedError(`the database "${file}"`);
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  // Read again, because another process might have created the tables meanwhile.
  if (isEmpty || connection.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID) return;
  throw new StoreError(
    'INVALID_STORE_URL',
    `Cannot open "${file}": it belongs to another application. Use another file.`,
  );
}

function readVersion(connection: Connection, file: string, supported: number): number {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
  // The version is negative or not a number: no migration starts from it.
  if (!(version >= 0)) throw createDamagedError(file, new Error(`invalid schema version ${version}`));
  if (version === TRANSFER_SCHEMA_VERSION) throw createIncompleteError(`the database "${file}"`);
  if (version > supported) throw createTooNewError(`the database "${file}"`, version, supported);
  return version;
}
