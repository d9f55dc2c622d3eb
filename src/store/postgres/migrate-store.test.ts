import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createMemoryIo } from '../../cli/fixtures/memory-io.js';
import { run } from '../../cli/run.js';
import { fillStore, readEverything } from '../contract/fixtures/filled-store.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { NOW, sampleClaim, sampleSettlement, sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { migrateStore } from '../migrate-store.js';
import { openPlain } from './fixtures/open-plain.js';

const PROGRAM = new URL('./fixtures/migrate-program.ts', import.meta.url);
const PAGES = 6;

async function makeFile(): Promise<string> {
  return join(await makeFolder({}), 'sluice.db');
}

async function fill(url: string) {
  const store = await openStore(url);
  await fillStore(store);
  const content = await readEverything(store);
  await store.close();
  return content;
}

/** A file with many pages of events. */
async function makeLargeFile(): Promise<string> {
  const file = await makeFile();
  await fill(`sqlite:${file}`);
  changeFile(
    file,
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${PAGES * 1000})
     INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
       SELECT 'large', 'fcmp', 1, n, n, randomblob(500) FROM numbers`,
  );
  return file;
}

function changeFile(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

async function killAtPage(source: string, target: string, page: string): Promise<void> {
  const program = await bundleProgram(PROGRAM);
  const child = program.start([source, target]);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === page) child.kill('SIGKILL');
  }
}

describe('a migration', () => {
  it('to PostgreSQL and back preserves every order, item, comment, run, event and result', async () => {
    const [first, url, second] = [await makeFile(), await createDatabase(), await makeFile()];
    const content = await fill(`sqlite:${first}`);
    const report = await migrateStore(`sqlite:${first}`, url);
    expect(report.copied).toBe(report.rows);
    expect(report.tables).toMatchObject({ issues: 12, runs: 23, inbox: 6, workers: 1, results: 1 });
    const store = await openStore(url);
    expect(await readEverything(store)).toEqual(content);
    await store.close();
    await migrateStore(url, `sqlite:${second}`);
    expect(await readEverything(await openSite(`sqlite:${second}`))).toEqual(content);
  });

  it('leaves a store where work continues', async () => {
    const [file, url] = [await makeFile(), await createDatabase()];
    await fill(`sqlite:${file}`);
    await migrateStore(`sqlite:${file}`, url);
    const store = await openSite(url);
    const [running] = (await store.listOrders({ issueRef: 'local#running' })).items;
    if (running === undefined) throw new Error('the order is missing');
    expect(await store.settleOrder(sampleSettlement(running))).toMatchObject({ repeated: false });
    const [settled] = (await store.listOrders({ issueRef: 'local#settled' })).items;
    if (settled === undefined) throw new Error('the order is missing');
    expect(await store.settleOrder(sampleSettlement(settled))).toMatchObject({ repeated: true });
    const { record } = await store.submitOrder(sampleSubmission({ issue_ref: 'local#settled' }));
    expect(record.order.run_id).toBe('2026-11-15-backend-0002');
    expect((await store.claimRun(sampleClaim('w9')))?.record.order?.issue_ref).toBe('local#queued');
    await store.append('run-waiting', [sampleFcmp(1, 'other'), sampleFcmp(2)]);
    expect(await store.read({ runId: 'run-waiting', protocol: 'fcmp', limit: 9 })).toEqual([
      sampleFcmp(1),
      sampleFcmp(2),
    ]);
  });

  it.each(['to PostgreSQL', 'to SQLite'])(
    '%s continues after being killed, and its target cannot be opened until it is complete',
    async (direction) => {
      const file = await makeLargeFile();
      const url = await createDatabase();
      if (direction === 'to SQLite') await migrateStore(`sqlite:${file}`, url);
      const [source, target] =
        direction === 'to SQLite' ? [url, `sqlite:${await makeFile()}`] : [`sqlite:${file}`, url];
      await killAtPage(source, target, 'event_packs 3000');
      expect(await catchCode(openStore(target))).toBe('STORE_INCOMPLETE');
      const report = await migrateStore(source, target);
      expect(report.copied).toBeLessThan(report.rows - 2900);
      expect(report.copied).toBeGreaterThan(1000);
      const before = await openStore(source);
      const content = await readEverything(before);
      await before.close();
      const store = await openSite(target);
      expect(await readEverything(store)).toEqual(content);
      // The second time, all rows already exist.
      await store.close();
      expect(await migrateStore(source, target)).toEqual({ ...report, copied: 0 });
    },
  );

  it('starts over if the source has changed since it was interrupted', async () => {
    const [file, url] = [await makeLargeFile(), await createDatabase()];
    await killAtPage(`sqlite:${file}`, url, 'event_packs 2000');
    changeFile(
      file,
      `DELETE FROM event_packs WHERE first_seq = 7; UPDATE runs SET priority = 3 WHERE id = 'run-ended'`,
    );
    const report = await migrateStore(`sqlite:${file}`, url);
    expect(report.copied).toBe(report.rows);
    const { rows } = await (await openPlain(url)).query(`SELECT priority FROM sluice.runs WHERE id = 'run-ended'`);
    expect(rows).toEqual([{ priority: 3 }]);
  });

  it('rejects a target with other data, or with an unfinished copy of another store', async () => {
    const [file, other, url] = [await makeLargeFile(), await makeFile(), await createDatabase()];
    await fill(`sqlite:${other}`);
    await killAtPage(`sqlite:${file}`, url, 'event_packs 1000');
    const migration = migrateStore(`sqlite:${other}`, url);
    expect(await catchCode(migration)).toBe('TARGET_EXISTS');
    await expect(migration).rejects.toThrow('an unfinished copy of "sqlite:');
    await migrateStore(`sqlite:${file}`, url);
    expect(await catchCode(migrateStore(`sqlite:${other}`, url))).toBe('TARGET_EXISTS');
    expect(await catchCode(migrateStore(url, `sqlite:${other}`))).toBe('TARGET_EXISTS');
    changeFile(other, 'ALTER TABLE workers ADD COLUMN more TEXT');
    expect(await catchCode(migrateStore(url, `sqlite:${other}`))).toBe('TARGET_EXISTS');
  });

  it('rejects a source in use by workers', async () => {
    const [file, url] = [await makeFile(), await createDatabase()];
    const store = await openSite(`sqlite:${file}`);
    const worker = { id: 'w', host: 'host', version: '1', engines: [], capacity: 1, busy: 0, isStopping: false };
    await store.reportWorker({ ...worker, now: Date.now(), aliveUntil: Date.now() + 60_000 });
    const used = migrateStore(`sqlite:${file}`, url);
    expect(await catchCode(used)).toBe('MIGRATION_IN_USE');
    await expect(used).rejects.toThrow('1 worker uses the source');
  });

  it('prevents other processes from writing to the source', async () => {
    const [file, url] = [await makeLargeFile(), await createDatabase()];
    let refused = '';
    await migrateStore(`sqlite:${file}`, url, {
      onProgress: () => {
        if (refused !== '') return;
        const database = new DatabaseSync(file);
        try {
          database.exec(`UPDATE issues SET updated_at = ${NOW}`);
          refused = 'written';
        } catch (error) {
          refused = String(error);
        }
        database.close();
      },
    });
    expect(refused).toContain('locked');
  });

  it('stops when it is aborted, and continues', async () => {
    const [file, url] = [await makeLargeFile(), await createDatabase()];
    const stop = new AbortController();
    const abortedMigration = migrateStore(`sqlite:${file}`, url, {
      onProgress: ({ rows }) => rows >= 5000 && stop.abort(new Error('stopped')),
      signal: stop.signal,
    });
    await expect(abortedMigration).rejects.toThrow('stopped');
    const report = await migrateStore(`sqlite:${file}`, url);
    expect(report.rows - report.copied).toBeGreaterThanOrEqual(5000);
  });

  it.each([
    ['memory:', 'postgres://x/y', 'INVALID_STORE_URL'],
    ['sqlite:a.db', 'sqlite:b.db', 'COPY_UNSUPPORTED'],
    ['postgres://x/y', 'postgresql://x/z', 'COPY_UNSUPPORTED'],
    ['sqlite:/nowhere/a.db', 'postgres://x/y', 'STORE_UNAVAILABLE'],
  ])('from %s to %s is rejected', async (source, target, code) => {
    expect(await catchCode(migrateStore(source, target))).toBe(code);
  });
});

describe('sluice migrate', () => {
  it('prints only the JSON report to a pipe', async () => {
    const [file, url] = [await makeFile(), await createDatabase()];
    await fill(`sqlite:${file}`);
    const io = createMemoryIo({});
    expect(await run(['migrate', `sqlite:${file}`, url], io)).toBe(0);
    expect(JSON.parse(io.printed.stdout)).toMatchObject({ tables: { issues: 12 }, rows: expect.any(Number) });
    const again = createMemoryIo({});
    expect(await run(['migrate', url, `sqlite:${file}`], again)).toBe(0);
    expect(again.printed.stderr).toBe('');
    expect(JSON.parse(again.printed.stdout)).toMatchObject({ copied: 0 });
  });
});
