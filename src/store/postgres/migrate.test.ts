import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { expectGolden, listGoldenVersions, unpackGolden } from '../contract/golden.contract.js';
import { expectMigrated, expectUnpackedMigrated } from '../contract/migrated.contract.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { sampleClaim, sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import { openPlain } from './fixtures/open-plain.js';
import { migrate } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

const FIXTURES = new URL('./fixtures/', import.meta.url);

/** An empty database with the tables of an earlier schema version. */
async function createAtVersion(version: number) {
  const url = await createDatabase();
  const database = await openPlain(url);
  for (const [index, step] of MIGRATIONS.slice(0, version).entries()) {
    await database.query(step);
    await database.query('INSERT INTO sluice.migrations (version) VALUES ($1)', [index + 1]);
  }
  return { url, database };
}

describe('opening a store on PostgreSQL', () => {
  it('creates the tables once when opened concurrently', async () => {
    const url = await createDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(async () => openSite(url)));
    await Promise.all(
      stores.map(async (store, index) => store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }))),
    );
    expect((await stores[0]?.listIssues({}))?.items).toHaveLength(4);
    const { rows } = await (await openPlain(url)).query('SELECT version FROM sluice.migrations ORDER BY version');
    expect(rows).toEqual(MIGRATIONS.map((_, index) => ({ version: index + 1 })));
  });

  it('finds the data of an earlier store', async () => {
    const url = await createDatabase();
    const first = await openSite(url);
    const { record } = await first.submitOrder(sampleSubmission());
    await first.close();
    expect(await (await openSite(url)).findOrder('local#1', record.order.run_id)).toEqual(record);
  });

  it('migrates a store of version 0.1.0, including unfinished work', async () => {
    const { url, database } = await createAtVersion(5);
    await database.query(await readFile(new URL('./fixtures/store-0.1.0.sql', import.meta.url), 'utf8'));
    await expectMigrated(await openSite(url));
  });

  it('migrates a store with one event per row', async () => {
    const { url, database } = await createAtVersion(8);
    const rows = gunzipSync(await readFile(new URL('./fixtures/store-form-8.sql.gz', import.meta.url))).toString();
    await database.query(rows);
    await expectUnpackedMigrated(await openSite(url));
  });

  it.each(listGoldenVersions(FIXTURES))(
    'migrates a store of schema version %i without losing data',
    async (version) => {
      const { url, database } = await createAtVersion(version);
      await database.query((await unpackGolden(FIXTURES, version, 'sql')).toString());
      await expectGolden(await openSite(url), await unpackGolden(FIXTURES, version, 'json'));
    },
  );

  it("does not change a newer version's database", async () => {
    const url = await createDatabase();
    const database = await openPlain(url);
    await migrate(database);
    await database.query('INSERT INTO sluice.migrations (version) VALUES ($1)', [MIGRATIONS.length + 1]);
    expect(await catchCode(openSite(url))).toBe('STORE_TOO_NEW');
  });

  it("rejects a process's writes after a newer version has migrated", async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    await store.submitOrder(sampleSubmission());
    const database = await openPlain(url);
    await database.query('INSERT INTO sluice.migrations (version) VALUES ($1)', [MIGRATIONS.length + 1]);
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#2' })))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.append('run', [sampleFcmp(1)]))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.claimRun(sampleClaim()))).toBe('STORE_TOO_NEW');
    expect((await store.listOrders({})).items).toHaveLength(1);
    await database.query('DELETE FROM sluice.migrations WHERE version = $1', [MIGRATIONS.length + 1]);
    await store.append('run', [sampleFcmp(1)]);
  });

  it('rejects writes to every table by a process that does not declare its schema version', async () => {
    const url = await createDatabase();
    await openSite(url);
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(async () => client.end());
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice' AND tablename <> 'migrations'`,
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { name } of rows) {
      await expect(client.query(`DELETE FROM sluice.${name}`)).rejects.toMatchObject({ code: 'SLU01' });
    }
  });

  it('rejects a database created by other migration steps', async () => {
    const url = await createDatabase();
    const database = await openPlain(url);
    await migrate(database);
    await database.query(`UPDATE sluice.migrations SET checksum = 'x' WHERE version = 7`);
    expect(await catchCode(openSite(url))).toBe('STORE_DAMAGED');
  });

  it('does not migrate a database created by other migration steps', async () => {
    const { url, database } = await createAtVersion(MIGRATIONS.length - 1);
    await database.query(`UPDATE sluice.migrations SET checksum = 'x' WHERE version = 7`);
    expect(await catchCode(openSite(url))).toBe('STORE_DAMAGED');
    const { rows } = await database.query('SELECT max(version) AS version FROM sluice.migrations');
    expect(rows).toEqual([{ version: MIGRATIONS.length - 1 }]);
  });

  it('rolls back a migration step that fails', async () => {
    const database = await openPlain(await createDatabase());
    // An existing table makes the first step fail halfway through.
    await database.query('CREATE SCHEMA sluice');
    await database.query('CREATE TABLE sluice.events ()');
    expect(await catchCode(migrate(database))).toBe('STORE_FAILED');
    const { rows } = await database.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'sluice'`);
    expect(rows).toEqual([{ tablename: 'events' }]);
    await database.query('DROP TABLE sluice.events');
    await migrate(database);
    const { rows: versions } = await database.query('SELECT max(version) AS version FROM sluice.migrations');
    expect(versions).toEqual([{ version: MIGRATIONS.length }]);
  });

  it('reports a row with an unexpected value', async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    const { record } = await store.submitOrder(sampleSubmission());
    await (await openPlain(url)).query(`UPDATE sluice.orders SET work_order = '{'`);
    expect(await catchCode(store.findOrder('local#1', record.order.run_id))).toBe('STORE_DAMAGED');
  });
});
