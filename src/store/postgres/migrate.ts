import {
  createIncompleteError,
  createOutdatedError,
  createTooNewError,
  TRANSFER_SCHEMA_VERSION,
} from '../store-error.js';
import { OTHER_SCHEMA_VERSION } from './database-error.js';
import { type PostgresDatabase, type Queryable, openDatabase } from './database.js';
import { POSTGRES_SCHEMA } from './tables.js';
import type { MigrationSide } from '../driver.js';
import { SCHEMA_STEPS, STORED_TABLES } from '../sql/schema.js';
import { measureClock } from './clock.js';

/**
 * Migrates the tables to the newest schema version, one transaction per step, one process at a time. A database used by
 * a newer version of Sluice is not changed. `schema_versions` lists the versions whose processes may use the tables.
 */
export async function migrate(database: PostgresDatabase): Promise<void> {
  const { steps } = database;
  const first = await readVersion(database, steps.length);
  for (const [version, step] of steps.entries()) {
    if (version < first) continue;
    await withMigrationLock(database, async (transaction) => {
      if ((await readVersion(transaction, steps.length)) !== version) return;
      if (version === 0) await transaction.query(CREATE_SCHEMA);
      // A step writes to the previous schema version's tables.
      await transaction.query(`SET LOCAL sluice.schema_version = ${version}`);
      await transaction.query(step(POSTGRES_SCHEMA));
      await transaction.query(`DELETE FROM sluice.schema_versions WHERE version < $1`, [step.oldest ?? version + 1]);
      await transaction.query(`INSERT INTO sluice.schema_versions (version) VALUES ($1)`, [version + 1]);
      const { rows } = await transaction.query('SELECT version FROM sluice.schema_versions');
      await transaction.query(buildVersionCheck(rows.map((row) => Number(row['version']))));
    });
  }
  await guardTables(database);
}

const CREATE_SCHEMA = `
  CREATE SCHEMA IF NOT EXISTS sluice;
  CREATE TABLE sluice.schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`;

/**
 * Makes every table reject writes by a process whose schema version is not listed: each connection declares its version
 * (`sluice.schema_version`), and a trigger compares it. Such a process is rejected as soon as the migration is
 * committed; a statement that started earlier holds locks that the migration of its table waits for.
 */
async function guardTables(database: PostgresDatabase): Promise<void> {
  const { rows } = await database.query(UNGUARDED);
  if (rows.length === 0) return;
  await withMigrationLock(database, async (transaction) => {
    const { rows: tables } = await transaction.query(UNGUARDED);
    for (const row of tables) {
      await transaction.query(
        `CREATE TRIGGER check_schema_version BEFORE INSERT OR UPDATE OR DELETE ON sluice.${String(row['name'])}
         FOR EACH STATEMENT EXECUTE FUNCTION sluice.check_schema_version()`,
      );
    }
  });
}

/** Sluice's own table names need no quotes. */
const UNGUARDED = `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'sluice'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'schema_versions'
    AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = 'check_schema_version')`;

/** Compares with constants, because a query would take longer than many of the statements that the trigger checks. */
const buildVersionCheck = (versions: readonly number[]): string => `
  CREATE OR REPLACE FUNCTION sluice.check_schema_version() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF coalesce(current_setting('sluice.schema_version', true), '') NOT IN (${versions.map((version) => `'${version}'`).join()}) THEN
      RAISE EXCEPTION 'this process writes another schema version' USING ERRCODE = '${OTHER_SCHEMA_VERSION}';
    END IF;
    RETURN NULL;
  END $$`;

/**
 * The number of the lock under which one process at a time migrates the tables. Locks for folders, wrapper types and
 * turns have negative numbers (`tables.ts`), named locks the hash of their name, listening connections random numbers.
 */
const MIGRATION_LOCK = 758_423;

async function withMigrationLock(
  database: PostgresDatabase,
  change: (transaction: Queryable) => Promise<unknown>,
): Promise<void> {
  await database.transaction(
    async (transaction) => {
      // No timeout, because a step can take long, here or in another process that holds the lock.
      await transaction.query(`SET LOCAL lock_timeout = 0`);
      await transaction.query(`SET LOCAL statement_timeout = 0`);
      await transaction.query(`SET LOCAL idle_in_transaction_session_timeout = 0`);
      await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [MIGRATION_LOCK]);
      await change(transaction);
    },
    { isLong: true },
  );
}

async function readVersion(queryable: Queryable, supported: number): Promise<number> {
  // Not `to_regclass`, which can still use the connection's cache after waiting for the lock.
  const { rows: found } = await queryable.query(
    `SELECT tablename AS name FROM pg_catalog.pg_tables
     WHERE schemaname = 'sluice' AND tablename IN ('schema_versions', 'migrations')`,
  );
  if (found.some(({ name }) => name === 'migrations')) throw createOutdatedError('the database');
  if (found.length === 0) return 0;
  const { rows } = await queryable.query(`SELECT version FROM sluice.schema_versions ORDER BY version DESC`);
  const versions = rows.map((row) => Number(row['version']));
  const [version = 0] = versions;
  if (version === TRANSFER_SCHEMA_VERSION) throw createIncompleteError('the database');
  if (version > supported && !versions.includes(supported)) throw createTooNewError('the database', version, supported);
  return version;
}

/** Opens a database for a migration between databases. */
export async function withPostgresSide<T>(
  url: string,
  schemaVersion: number,
  work: (side: MigrationSide) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, { connections: 2, schemaVersion });
  try {
    if (schemaVersion === SCHEMA_STEPS.length) {
      await migrate(database);
      const version = await readVersion(database, schemaVersion);
      // A copy has exactly the tables that this version knows.
      if (version !== schemaVersion) throw createTooNewError('the database', version, schemaVersion);
    }
    return await work({
      database,
      now: (await measureClock(database)).now,
      freeze: async (read) =>
        database.transaction(
          async (session) => {
            await session.query('SET LOCAL statement_timeout = 0');
            await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
            const tables = STORED_TABLES.map(({ name }) => name).join(', ');
            await session.query(`LOCK TABLE ${tables} IN SHARE ROW EXCLUSIVE MODE`);
            return read(session);
          },
          { isLong: true },
        ),
      async setVersion(session, version) {
        await session.run(`DELETE FROM schema_versions WHERE version <> ${version}`);
        await session.run(`INSERT INTO schema_versions (version) VALUES (${version}) ON CONFLICT DO NOTHING`);
        await session.run(buildVersionCheck([version]));
        const numbered = STORED_TABLES.filter(
          (table) => table.key.join() === 'seq' && !WITH_FOREIGN_SEQ.includes(table.name),
        );
        for (const { name } of numbered) {
          await session.get(
            `SELECT setval(pg_get_serial_sequence('sluice.${name}', 'seq'), greatest(max(seq), 1), max(seq) IS NOT NULL) FROM ${name}`,
          );
        }
      },
    });
  } finally {
    await database.close();
  }
}

/** Tables whose numbers come from another table. */
const WITH_FOREIGN_SEQ: readonly string[] = ['run_digests', 'runs_to_count', 'leases'];
