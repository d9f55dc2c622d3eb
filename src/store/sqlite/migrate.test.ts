import { readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { findUnusableFolder } from '../../../test/unusable-folder.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import { expectGolden, listGoldenVersions, unpackGolden } from '../contract/golden.contract.js';
import { expectMigrated, expectUnpackedMigrated } from '../contract/migrated.contract.js';
import { openStore } from '../open-store.js';
import { MIGRATIONS } from './migrations.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

const FIXTURES = new URL('./fixtures/', import.meta.url);

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
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length });
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

  it('of version 0.1.0 is migrated, including unfinished work', async () => {
    const packed = await readFile(new URL('./fixtures/store-0.1.0.db.gz', import.meta.url));
    const file = join(await makeFolder({}), 'sluice.db');
    await writeFile(file, gunzipSync(packed));
    await expectMigrated(await openSite(`sqlite:${file}`));
  });

  it('with one event per row is migrated', async () => {
    const packed = await readFile(new URL('./fixtures/store-form-9.db.gz', import.meta.url));
    const file = join(await makeFolder({}), 'sluice.db');
    await writeFile(file, gunzipSync(packed));
    await expectUnpackedMigrated(await openSite(`sqlite:${file}`));
  });

  it.each(listGoldenVersions(FIXTURES))('of schema version %i is migrated without losing data', async (version) => {
    const file = join(await makeFolder({}), 'sluice.db');
    await writeFile(file, await unpackGolden(FIXTURES, version, 'db'));
    await expectGolden(await openSite(`sqlite:${file}`), await unpackGolden(FIXTURES, version, 'json'));
  });

  it('of a newer version is rejected and not changed', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, `PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    expect(await catchCode(openStore(`sqlite:${file}`))).toBe('STORE_TOO_NEW');
    executeSql(file, `PRAGMA user_version = ${MIGRATIONS.length}`);
    expect(await catchCode(openSite(`sqlite:${file}`))).toBe('no error');
  });

  it('that a newer version migrates while it is open rejects further writes', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    await store.submitOrder(sampleSubmission());
    executeSql(file, `PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    expect(await catchCode(store.submitOrder(sampleSubmission({ issue_ref: 'local#2' })))).toBe('STORE_TOO_NEW');
    expect(await catchCode(store.append('run', [sampleFcmp(1)]))).toBe('STORE_TOO_NEW');
    expect((await store.listOrders({})).items).toHaveLength(1);
    expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 1 })).toEqual([]);
  });

  it('created by other migration steps is rejected', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    executeSql(file, `UPDATE migrations SET checksum = 'x' WHERE version = 7`);
    const opening = openStore(`sqlite:${file}`);
    expect(await catchCode(opening)).toBe('STORE_DAMAGED');
    await expect(opening).rejects.toThrow('schema version 7 was created by a different migration step');
  });

  it('created by other migration steps is not migrated further', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const version = Math.max(...listGoldenVersions(FIXTURES));
    await writeFile(file, await unpackGolden(FIXTURES, version, 'db'));
    // Its last step must run again.
    executeSql(file, `UPDATE migrations SET checksum = 'x' WHERE version = 7; PRAGMA user_version = 0`);
    await expect(openStore(`sqlite:${file}`)).rejects.toThrow(
      'schema version 7 was created by a different migration step',
    );
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
