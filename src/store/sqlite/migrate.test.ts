import { readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { findUnusableFolder } from '../../../test/unusable-folder.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { UNCOPIED_TABLES } from '../contract/fixtures/uncopied-tables.js';
import { SCHEMA_STEPS, STORED_TABLES } from '../sql/schema.js';
import { openDatabase } from './database.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

function executeSql(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

describe('a file', () => {
  it('is created with its folder on first use, readable by its owner only', async () => {
    const file = join(await makeFolder({}), 'a', 'b', 'sluice.db');
    await openSite(`sqlite:${file}`);
    expect((await stat(file)).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_STEPS.length });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  it('keeps its data when it is opened again', async () => {
    const url = `sqlite:${join(await makeFolder({}), 'sluice.db')}`;
    const first = await openStore(url);
    await first.submitOrder(sampleSubmission());
    await first.close();
    expect(await (await openSite(url)).findIssue('local#1')).toMatchObject({ last_run_number: 1 });
  });

  it('is migrated step by step, and keeps its data', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const first = await openStore(`sqlite:${file}`);
    await first.submitOrder(sampleSubmission());
    await first.close();
    const steps = [
      ...SCHEMA_STEPS,
      () => 'ALTER TABLE issues ADD COLUMN labels TEXT',
      () => `UPDATE issues SET labels = 'a'`,
    ];
    const database = await openDatabase(file, { steps });
    expect(await database.all('SELECT issue_ref, labels FROM issues')).toEqual([{ issue_ref: 'local#1', labels: 'a' }]);
    database.close();
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_TOO_NEW');
  });

  it('has no table that a migration to PostgreSQL would miss', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await openSite(`sqlite:${file}`);
    const database = new DatabaseSync(file);
    const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
    database.close();
    const known = [...STORED_TABLES.map(({ name }) => name), ...UNCOPIED_TABLES];
    expect(rows.map((row) => (row as { readonly name: string }).name).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });

  it('keeps its version if a step fails', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    const failing = [...SCHEMA_STEPS, () => 'CREATE TABLE half (a TEXT); CREATE TABLE issues (a TEXT)'];
    expect(await catchCode(openDatabase(file, { steps: failing }))).toBe('STORE_FAILED');
    expect((await (await openSite(`sqlite:${file}`)).listIssues({})).items).toEqual([]);
  });

  it('of a version before the first release is rejected and not changed', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    executeSql(file, 'CREATE TABLE issues (a TEXT); PRAGMA application_id = 0x534c4345; PRAGMA user_version = 28');
    const opening = openStore(`sqlite:${file}`);
    expect(await catchCode(opening)).toBe('STORE_TOO_OLD');
    await expect(opening).rejects.toThrow('"sluice executions --csv"');
  });

  it('of a newer version is rejected and not changed', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, `PRAGMA user_version = ${SCHEMA_STEPS.length + 1}`);
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_TOO_NEW');
    executeSql(file, `PRAGMA user_version = ${SCHEMA_STEPS.length}`);
    expect(await catchCode(openSite(`sqlite:${file}`))).toBe('no error');
  });

  it('that a newer version migrates while it is open rejects further writes', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    await store.submitOrder(sampleSubmission());
    executeSql(file, `PRAGMA user_version = ${SCHEMA_STEPS.length + 1}`);
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#2' })))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.append('run', [sampleFcmp(1)]))).toBe('STORE_TOO_NEW');
    expect((await store.listOrders({})).items).toHaveLength(1);
    expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 1 })).toEqual([]);
  });

  it('of another application is rejected and not changed', async () => {
    const file = join(await makeFolder({}), 'other.db');
    executeSql(file, 'CREATE TABLE orders (mine TEXT)');
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('INVALID_STORE_URL');
    const database = new DatabaseSync(file);
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'orders' }]);
    database.close();
  });

  it('that is not a database is rejected and not changed', async () => {
    const text = 'A letter to my grandmother. '.repeat(100);
    const file = join(await makeFolder({ 'letter.txt': text }), 'letter.txt');
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_DAMAGED');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('that was truncated is rejected and not changed', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
    await truncate(file, 9000);
    const before = await readFile(file);
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_DAMAGED');
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('whose tables do not match its schema version is rejected', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, 'DROP TABLE outbox');
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_DAMAGED');
  });

  it('with an invalid schema version is rejected', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, 'PRAGMA user_version = -1');
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_DAMAGED');
  });

  it('that cannot be created is reported', async () => {
    const folder = await makeFolder({});
    await writeFile(join(folder, 'file'), '');
    await symlink(join(folder, 'gone', 'disk'), join(folder, 'unmounted'));
    const closed = join(await findUnusableFolder(), 'x.db');
    for (const place of [join(folder, 'file', 'x.db'), folder, join(folder, 'unmounted', 'x.db'), closed]) {
      const opening = openStore(`sqlite:${place}`);
      await expect(opening).rejects.toThrow('Check its folder, permissions and free space');
      expect(await catchCode(opening)).toBe('STORE_UNAVAILABLE');
    }
  });
});
