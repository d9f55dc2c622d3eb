import { compareSteps, createMigratedError, createIncompleteError } from '../migration-steps.js';
import { StoreError } from '../store-error.js';
import { TRANSFER_SCHEMA_VERSION } from '../transfer/side.js';
import { createDamagedError } from './database-error.js';
import type { Connection } from './driver.js';
import { MIGRATIONS } from './migrations.js';

/** Marks a file as a Sluice database: "SLCE" in four bytes. */
const APPLICATION_ID = 0x53_4c_43_45;

/**
 * Migrates the tables to the newest schema version, one transaction per step. A file used by a newer version of Sluice
 * or by another application is not changed.
 */
export function migrate(connection: Connection, file: string): void {
  checkOwner(connection, file);
  compareRecorded(connection, file);
  while (readVersion(connection, file) < MIGRATIONS.length) {
    connection.exec('BEGIN IMMEDIATE');
    try {
      // Another process might have migrated first, so the version is read again under the lock.
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
  recordSteps(connection, compareRecorded(connection, file));
}

/** Compares the steps with those that created the tables; returns the steps without a recorded checksum. */
function compareRecorded(connection: Connection, file: string): readonly (readonly [number, string])[] {
  const isRecorded = connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'migrations'`).get() !== undefined;
  const rows = isRecorded ? connection.prepare('SELECT version, checksum FROM migrations').all() : [];
  const recorded = new Map(rows.map((row) => [Number(row['version']), String(row['checksum'])]));
  return compareSteps(MIGRATIONS, recorded, `the database "${file}"`);
}

function recordSteps(connection: Connection, missing: readonly (readonly [number, string])[]): void {
  if (missing.length === 0) return;
  // One statement is one transaction; another process might do the same.
  connection
    .prepare(
      `INSERT INTO migrations (version, checksum) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    )
    .run(JSON.stringify(missing));
}

/** Creates a check, for use inside a write transaction, that no newer version has migrated the tables. */
export function createVersionCheck(connection: Connection, file: string): () => void {
  const readSchemaVersion = connection.prepare('PRAGMA user_version');
  return () => {
    if (readSchemaVersion.get()?.['user_version'] !== MIGRATIONS.length)
      throw createMigratedError(`the database "${file}"`);
  };
}

/** Rejects another application's file, or an unknown schema version; changes nothing. */
export function checkVersion(connection: Connection, file: string): void {
  checkOwner(connection, file);
  readVersion(connection, file);
}

/** Rejects another application's file; changes nothing. */
export function checkOwner(connection: Connection, file: string): void {
  const owner = connection.prepare('PRAGMA application_id').get()?.['application_id'];
  if (owner === APPLICATION_ID) return;
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  // Read again, because another process might have created the tables meanwhile.
  if (isEmpty || connection.prepare('PRAGMA application_id').get()?.['application_id'] === APPLICATION_ID) return;
  throw new StoreError(
    'INVALID_STORE_URL',
    `Cannot open "${file}": it belongs to another application. Use another file.`,
  );
}

function readVersion(connection: Connection, file: string): number {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
  // The version is negative or not a number: no migration starts from it.
  if (!(version >= 0)) throw createDamagedError(file, new Error(`invalid schema version ${version}`));
  if (version === TRANSFER_SCHEMA_VERSION) throw createIncompleteError(`the database "${file}"`);
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'STORE_TOO_NEW',
      `Cannot open the database "${file}": it has schema version ${version}, and this version of Sluice supports up to ${MIGRATIONS.length}. Use the newer version of Sluice that wrote it.`,
    );
  }
  return version;
}
