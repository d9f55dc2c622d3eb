import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { fillStore } from '../contract/fixtures/filled-store.js';
import { NOW, sampleClaim, sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp, sampleSpec } from '../contract/fixtures/run-samples.js';
import { openPlain } from './fixtures/open-plain.js';
import { migrate } from './migrate.js';
import { UNCOPIED_TABLES } from '../contract/fixtures/uncopied-tables.js';
import { SCHEMA_STEPS, STORED_TABLES } from '../sql/schema.js';

/** A step after which processes of the version before can use every table. */
const EXPANDING = Object.assign(
  () => STORED_TABLES.map(({ name }) => `ALTER TABLE ${name} ADD COLUMN added_later text;`).join('\n'),
  { oldest: SCHEMA_STEPS.length },
);

describe('opening a store on PostgreSQL', () => {
  it('creates the tables once when opened concurrently', async () => {
    const url = await createDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(async () => openSite(url)));
    await Promise.all(
      stores.map(async (store, index) => store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }))),
    );
    expect((await stores[0]?.listIssues({}))?.items).toHaveLength(4);
    const { rows } = await (await openPlain(url)).query('SELECT version FROM sluice.schema_versions ORDER BY version');
    expect(rows).toEqual(SCHEMA_STEPS.map((_, index) => ({ version: index + 1 })));
  });

  it('finds the data of an earlier store', async () => {
    const url = await createDatabase();
    const first = await openSite(url);
    const { record } = await first.submitOrder(sampleSubmission());
    await first.close();
    expect(await (await openSite(url)).findOrder('local#1', record.order.run_id)).toEqual(record);
  });

  it('is migrated step by step, and keeps its data', async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    await store.submitOrder(sampleSubmission());
    const steps = [
      ...SCHEMA_STEPS,
      () => 'ALTER TABLE issues ADD COLUMN labels text',
      () => `UPDATE issues SET labels = 'a'`,
    ];
    const database = await openPlain(url, { steps });
    await migrate(database);
    expect(await database.all('SELECT issue_ref, labels FROM issues')).toEqual([{ issue_ref: 'local#1', labels: 'a' }]);
    expect(await catchCode(openSite(url))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#2' })))).toBe('STORE_TOO_NEW');
  });

  it('creates no table that a migration to SQLite would miss', async () => {
    const url = await createDatabase();
    await openSite(url);
    const rows = await (
      await openPlain(url)
    ).all(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice'`);
    const known = [...STORED_TABLES.map(({ name }) => name), ...UNCOPIED_TABLES];
    expect(rows.filter(({ name }) => !known.includes(String(name)))).toEqual([]);
  });

  it('of a version before the first release is rejected and not changed', async () => {
    const url = await createDatabase();
    await (await openPlain(url)).query('CREATE SCHEMA sluice; CREATE TABLE sluice.migrations (version integer)');
    const opening = openSite(url);
    expect(await catchCode(opening)).toBe('STORE_TOO_OLD');
    await expect(opening).rejects.toThrow('"sluice executions --csv"');
  });

  it("does not change a newer version's database", async () => {
    const url = await createDatabase();
    const database = await openPlain(url);
    await migrate(database);
    await database.query('UPDATE sluice.schema_versions SET version = $1', [SCHEMA_STEPS.length + 1]);
    expect(await catchCode(openSite(url))).toBe('STORE_TOO_NEW');
  });

  it('lets processes of the version before work on after a step that only adds something', async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    const claim = async (run: string) => {
      await store.createRun({ id: run, spec: sampleSpec({ workdir: `/${run}` }), state: 'queued', now: NOW });
      const claimed = await store.claimRun(sampleClaim());
      await store.append(run, [sampleFcmp(1)]);
      return claimed?.record.id;
    };
    // Its connections have prepared these statements.
    expect(await claim('run-1')).toBe('run-1');
    const steps = [...SCHEMA_STEPS, EXPANDING];
    const database = await openPlain(url, { steps });
    await migrate(database);
    expect(await claim('run-2')).toBe('run-2');
    await fillStore(store);
    expect((await store.listOrders({})).items).not.toHaveLength(0);
    const restarted = await openSite(url);
    expect(await restarted.findRun('run-2')).toMatchObject({ state: 'running' });
    await restarted.submitOrder(sampleSubmission({ issue_ref: 'local#after-restart' }));
    const contracting = () => 'ALTER TABLE issues DROP COLUMN added_later';
    await migrate(await openPlain(url, { steps: [...steps, contracting] }));
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#3' })))).toBe('STORE_TOO_NEW');
    expect(await catchCode(database.run(`UPDATE issues SET state = 'todo'`))).toBe('STORE_TOO_NEW');
    expect(await catchCode(openSite(url))).toBe('STORE_TOO_NEW');
  });

  it("rejects a process's writes after a newer version has migrated", async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    await store.submitOrder(sampleSubmission());
    await migrate(await openPlain(url, { steps: [...SCHEMA_STEPS, () => 'CREATE TABLE sluice.added ()'] }));
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#2' })))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.append('run', [sampleFcmp(1)]))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.claimRun(sampleClaim()))).toBe('STORE_TOO_NEW');
    expect((await store.listOrders({})).items).toHaveLength(1);
  });

  it('rejects writes to every table by a process that does not declare its schema version', async () => {
    const url = await createDatabase();
    await openSite(url);
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(async () => client.end());
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice' AND tablename <> 'schema_versions'`,
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { name } of rows) {
      await expect(client.query(`DELETE FROM sluice.${name}`)).rejects.toMatchObject({ code: 'SLU01' });
    }
  });

  it('rolls back a migration step that fails', async () => {
    const database = await openPlain(await createDatabase());
    // An existing table makes the first step fail halfway through.
    await database.query('CREATE SCHEMA sluice');
    await database.query('CREATE TABLE sluice.orders ()');
    expect(await catchCode(migrate(database))).toBe('STORE_FAILED');
    const { rows } = await database.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'sluice'`);
    expect(rows).toEqual([{ tablename: 'orders' }]);
    await database.query('DROP TABLE sluice.orders');
    await migrate(database);
    const { rows: versions } = await database.query('SELECT max(version) AS version FROM sluice.schema_versions');
    expect(versions).toEqual([{ version: SCHEMA_STEPS.length }]);
  });

  it('reports a row with an unexpected value', async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    const { record } = await store.submitOrder(sampleSubmission());
    await (await openPlain(url)).query(`UPDATE sluice.orders SET work_order = '{'`);
    expect(await catchCode(store.findOrder('local#1', record.order.run_id))).toBe('STORE_DAMAGED');
  });
});
