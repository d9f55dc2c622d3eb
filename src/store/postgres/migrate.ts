import { StoreError } from '../store-error.js';
import type { Database } from './database.js';
import type { Queryable } from './driver.js';
import { MIGRATIONS } from './migrations.js';

/** An arbitrary number that all machines share: "sluice" on a telephone keypad. */
const MIGRATION_LOCK = 758_423;

/**
 * Migrates the tables to the newest schema version, one transaction per step, one process at a time. A database that a
 * newer version of Sluice has used is left unchanged.
 */
export async function migrate(database: Database): Promise<void> {
  for (let version = await readVersion(database); version < MIGRATIONS.length; version++) {
    await alone(database, async (transaction) => {
      if ((await readVersion(transaction)) !== version) return;
      await transaction.query(MIGRATIONS[version] ?? '');
      await transaction.query(`INSERT INTO sluice.migrations (version) VALUES ($1)`, [version + 1]);
    });
  }
}

/** Changes the tables under the migration lock. */
export async function alone(database: Database, change: (transaction: Queryable) => Promise<unknown>): Promise<void> {
  await database.transaction(async (transaction) => {
    // Another process may be running a long step, so there is no timeout.
    await transaction.query(`SET LOCAL lock_timeout = 0`);
    await transaction.query(`SET LOCAL statement_timeout = 0`);
    await transaction.query(`SET LOCAL idle_in_transaction_session_timeout = 0`);
    await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [MIGRATION_LOCK]);
    await change(transaction);
  });
}

async function readVersion(queryable: Queryable): Promise<number> {
  // Not `to_regclass`: after waiting for the lock it may still answer from the connection's cache.
  const { rows: found } = await queryable.query(
    `SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'sluice' AND tablename = 'migrations'`,
  );
  if (found.length === 0) return 0;
  const { rows } = await queryable.query(`SELECT COALESCE(max(version), 0) AS version FROM sluice.migrations`);
  const version = Number(rows[0]?.['version']);
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'STORE_TOO_NEW',
      `Cannot open the database: it has schema version ${version}, and this version of Sluice supports up to ${MIGRATIONS.length}. Use the newer version of Sluice that wrote it.`,
    );
  }
  return version;
}
