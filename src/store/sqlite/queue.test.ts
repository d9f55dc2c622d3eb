import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { claimWithNewCaller } from '../contract/fair-claims.contract.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW, sampleClaim, sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleSpec } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';

const QUEUED = 100_000;
const FOLDERS = 5000;

/** Opens a database with a claimed run in each of many folders, and thousands of queued runs in these folders. */
async function fillQueue() {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FOLDERS - 1})
      INSERT INTO runs (id, spec, engine, state, created_at, folder, exclusive, priority, worker_id, started_at)
      SELECT 'b' || n, '{}', 'codex', 'running', 0, '/busy/' || n, 1, 0, 'w', 0 FROM numbers;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${QUEUED - 1})
      INSERT INTO runs (id, spec, engine, state, created_at, folder, exclusive, priority)
      SELECT 'q' || n, '{}', 'codex', 'queued', 0, '/busy/' || (n % ${FOLDERS}), 1, 5 FROM numbers;
    COMMIT;`);
  /** Counts the runs that a claim can read; its query plans show that it reads no others. */
  const count = database.prepare(
    `SELECT count(*) AS ready FROM runs WHERE state = 'queued' AND parked_on = '' AND not_before = 0`,
  );
  const countReady = () => (count.get() as { readonly ready: number }).ready;
  return { file, database, countReady };
}

describe('the queue', () => {
  it('does not search 100,000 runs whose 5,000 folders are in use, and claims the next run once a folder is free', async () => {
    const { file, database, countReady } = await fillQueue();
    const store = await openSite(`sqlite:${file}`);
    expect(await store.claimRun(sampleClaim())).toBeUndefined();
    expect(countReady()).toBe(0);
    await store.createRun({ id: 'free', spec: sampleSpec(), state: 'queued', now: NOW });
    expect(countReady()).toBe(1);
    expect((await store.claimRun(sampleClaim()))?.record.id).toBe('free');
    database.exec(`UPDATE runs SET state = 'ended', ended_at = 1 WHERE id = 'b7'`);
    expect((await store.claimRun(sampleClaim()))?.record.id).toBe('q7');
    expect(await store.claimRun(sampleClaim())).toBeUndefined();
    expect(countReady()).toBe(0);
    database.close();
  });

  it('claims the first run of another caller second, after 100,000 runs of one caller were queued', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    const database = new DatabaseSync(file);
    database.exec(`
      PRAGMA synchronous = OFF;
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${QUEUED})
        INSERT INTO runs (id, spec, engine, state, created_at, folder, exclusive, caller, turn)
        SELECT 'a' || n, '{}', 'codex', 'queued', 0, '/a/' || n, 1, 'a', n FROM numbers`);
    database.close();
    expect(await claimWithNewCaller(store)).toEqual(['a1', 'b1']);
  });

  it('parks runs whose folder is in use, however many there are', async () => {
    const { file, database, countReady } = await fillQueue();
    const store = await openSite(`sqlite:${file}`);
    expect(countReady()).toBe(FOLDERS);
    database.exec(`UPDATE runs SET parked_on = '' WHERE state = 'queued'`);
    expect(await store.claimRun(sampleClaim())).toBeUndefined();
    expect(countReady()).toBe(0);
    database.close();
  });

  it('does not offer deferred runs to claims, and admits all due runs', async () => {
    const { file, database, countReady } = await fillQueue();
    const store = await openSite(`sqlite:${file}`);
    expect(await store.claimRun(sampleClaim('w1', { now: NOW - 1 }))).toBeUndefined();
    await store.createRun({ id: 'free', spec: sampleSpec(), state: 'queued', now: NOW });
    database.exec(`
      UPDATE runs SET parked_on = '', not_before = ${NOW} WHERE state = 'queued' AND seq % 100 = 0;
      UPDATE runs SET not_before = ${NOW + 1} WHERE id = 'free'`);
    expect(await store.claimRun(sampleClaim('w1', { now: NOW - 1 }))).toBeUndefined();
    expect(countReady()).toBe(0);
    // A thousand other runs, whose folders are in use, come before it.
    expect((await store.claimRun(sampleClaim('w1', { now: NOW + 1 })))?.record.id).toBe('free');
    expect(countReady()).toBe(0);
    database.close();
  });

  it('offers no order of a wrapper type at its limit', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    for (let number = 0; number < 20; number += 1) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/srv/${number}` }));
    }
    const { workerType } = sampleSubmission();
    expect(await store.claimRun(sampleClaim('w1', { concurrency: { [workerType]: 0 } }))).toBeUndefined();
    expect(await store.claimRun(sampleClaim('w1', { concurrency: { [workerType]: 1 } }))).toBeDefined();
    expect(await store.claimRun(sampleClaim('w1', { concurrency: { [workerType]: 1 } }))).toBeUndefined();
  });

  it('claims the next order of a shared repository while the previous order is running', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    for (let number = 0; number < 5; number += 1) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, isolation: 'worktree' }));
    }
    const claimed: (string | undefined)[] = [];
    for (let number = 0; number < 6; number += 1) {
      claimed.push((await store.claimRun(sampleClaim()))?.order?.order.issue_ref);
    }
    expect(claimed).toEqual(['local#0', 'local#1', 'local#2', 'local#3', 'local#4', undefined]);
  });
});
