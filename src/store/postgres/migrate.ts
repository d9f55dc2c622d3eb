import { compareSteps, createIncompleteError } from '../migration-steps.js';
import { StoreError } from '../store-error.js';
import { TRANSFER_SCHEMA_VERSION } from '../transfer/side.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import type { Database } from './database.js';
import { OTHER_SCHEMA_VERSION } from './database-error.js';
import type { Queryable } from './driver.js';
import { MIGRATIONS } from './migrations.js';

/**
 * Migrates the tables to the newest schema version, one transaction per step, one process at a time. A database used by
 * a newer version of Sluice is not changed.
 */
export async function migrate(database: Database): Promise<void> {
  const first = await readVersion(database);
  if (first >= FIRST_WITH_CHECKSUMS) await compareRecorded(database);
  for (let version = first; version < MIGRATIONS.length; version++) {
    await withMigrationLock(database, async (transaction) => {
      if ((await readVersion(transaction)) !== version) return;
      // A step writes to the previous schema version's tables.
      await transaction.query(`SET LOCAL sluice.form = ${version}`);
      await transaction.query(MIGRATIONS[version] ?? '');
      await transaction.query(`INSERT INTO sluice.migrations (version) VALUES ($1)`, [version + 1]);
    });
  }
  await recordSteps(database, await compareRecorded(database));
  await guardTables(database);
}

/** The first schema version with step checksums. */
const FIRST_WITH_CHECKSUMS = 12;

/** Compares the steps with those that created the tables; returns the steps without a recorded checksum. */
async function compareRecorded(database: Database): Promise<readonly (readonly [number, string])[]> {
  const { rows } = await database.query(`SELECT version, checksum FROM sluice.migrations WHERE checksum IS NOT NULL`);
  const recorded = new Map(rows.map((row) => [Number(row['version']), String(row['checksum'])]));
  return compareSteps(MIGRATIONS, recorded, 'the database');
}

async function recordSteps(database: Database, missing: readonly (readonly [number, string])[]): Promise<void> {
  if (missing.length === 0) return;
  await database.query(
    `UPDATE sluice.migrations SET checksum = steps.checksum
     FROM unnest($1::integer[], $2::text[]) AS steps (version, checksum)
     WHERE migrations.version = steps.version AND migrations.checksum IS NULL`,
    [missing.map(([version]) => version), missing.map(([, sum]) => sum)],
  );
}

/**
 * Makes every table reject writes by a process with another schema version: each connection declares its version
 * (`sluice.form`), and a trigger compares it. A process with another version is rejected as soon as the migration is
 * committed; a statement that started earlier holds locks that the migration of its table waits for.
 */
async function guardTables(database: Database): Promise<void> {
  const { rows } = await database.query(UNGUARDED);
  if (rows.length === 0) return;
  await withMigrationLock(database, async (transaction) => {
    await transaction.query(CHECK_SCHEMA_VERSION);
    const { rows: tables } = await transaction.query(UNGUARDED);
    for (const row of tables) {
      await transaction.query(
        `CREATE TRIGGER check_form BEFORE INSERT OR UPDATE OR DELETE ON sluice.${String(row['name'])}
         FOR EACH STATEMENT EXECUTE FUNCTION sluice.check_form()`,
      );
    }
  });
}

/** Sluice's own table names need no quotes. */
const UNGUARDED = `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'sluice'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'migrations'
    AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = 'check_form')`;

const CHECK_SCHEMA_VERSION = `
  CREATE OR REPLACE FUNCTION sluice.check_form() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('sluice.form', true) IS DISTINCT FROM (SELECT max(version)::text FROM sluice.migrations) THEN
      RAISE EXCEPTION 'this process writes another schema version' USING ERRCODE = '${OTHER_SCHEMA_VERSION}';
    END IF;
    RETURN NULL;
  END $$`;

/** Changes the tables under the migration lock. */
async function withMigrationLock(
  database: Database,
  change: (transaction: Queryable) => Promise<unknown>,
): Promise<void> {
  await database.transaction(
    async (transaction) => {
      // No timeout, because a step can take long, here or in another process that holds the lock.
      await transaction.query(`SET LOCAL lock_timeout = 0`);
      await transaction.query(`SET LOCAL statement_timeout = 0`);
      await transaction.query(`SET LOCAL idle_in_transaction_session_timeout = 0`);
      await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [ADVISORY_LOCKS.migration]);
      await change(transaction);
    },
    { isLong: true },
  );
}

async function readVersion(queryable: Queryable): Promise<number> {
  // Not `to_regclass`, which can still use the connection's cache after waiting for the lock.
  const { rows: found } = await queryable.query(
    `SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'sluice' AND tablename = 'migrations'`,
  );
  if (found.length === 0) return 0;
  const { rows } = await queryable.query(`SELECT COALESCE(max(version), 0) AS version FROM sluice.migrations`);
  const version = Number(rows[0]?.['version']);
  if (version === TRANSFER_SCHEMA_VERSION) throw createIncompleteError('the database');
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'STORE_TOO_NEW',
      `Cannot open the database: it has schema version ${version}, and this version of Sluice supports up to ${MIGRATIONS.length}. Use the newer version of Sluice that wrote it.`,
    );
  }
  return version;
}
