import type { MigrationSide } from '../driver.js';
import { SCHEMA_STEPS, STORED_TABLES } from '../sql/schema.js';
import { measureClock } from './clock.js';
import { openDatabase } from './database.js';
import { migrate } from './migrate.js';

/** Opens a database for a migration between databases. */
export async function withPostgresSide<T>(
  url: string,
  schemaVersion: number,
  work: (side: MigrationSide) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, { connections: 2, schemaVersion });
  try {
    if (schemaVersion === SCHEMA_STEPS.length) await migrate(database);
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
        await session.run(`DELETE FROM schema_versions WHERE version > ${version}`);
        await session.run(`INSERT INTO schema_versions (version) VALUES (${version}) ON CONFLICT DO NOTHING`);
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
const WITH_FOREIGN_SEQ: readonly string[] = ['run_digests', 'runs_to_count'];
