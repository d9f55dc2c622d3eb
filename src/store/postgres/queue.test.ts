import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../test/postgres/eventually.js';
import { createDatabase, makeSite } from '../../../test/postgres/fresh-database.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import {
  sampleClaim,
  sampleItem,
  NOW,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
} from '../contract/fixtures/order-samples.js';
import { sampleSpec } from '../contract/fixtures/run-samples.js';
import type { Database } from './database.js';
import { openPlain } from './fixtures/open-plain.js';

async function listJobs(database: Database): Promise<unknown[]> {
  const { rows } = await database.query(`SELECT data FROM sluice_queue.job ORDER BY created_on`);
  return rows.map((row) => row['data']);
}

describe('the queue of work', () => {
  it('gets a wake-up for every order, run and retry', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const { record } = await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
    await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
    await store.createRun({ id: 'run', spec: sampleSpec(), state: 'queued', now: NOW });
    await store.createRun({ id: 'run', spec: sampleSpec(), state: 'queued', now: NOW });
    await store.createRun({ id: 'here', spec: sampleSpec(), state: 'running', workerId: 'w1', leaseMs: 1, now: NOW });
    const item = sampleItem(record);
    await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
    await store.resolveItem(sampleResolution(item, record, 'retry'));
    expect(await listJobs(database)).toEqual([
      { kind: 'order', issue_ref: 'local#1', run_id: '2026-11-15-backend-0001' },
      { kind: 'run', id: 'run' },
      { kind: 'order', issue_ref: 'local#1', run_id: '2026-11-15-backend-0002' },
    ]);
  });

  it('gets no wake-up if the order is not written', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const { record } = await store.submitOrder(sampleSubmission());
    const jobs = await listJobs(database);
    // The same ULID twice: the transaction fails after the issue's number was counted up.
    const failing = store.submitOrder({
      ...sampleSubmission({ issue_ref: 'local#2' }),
      run: record.run,
    });
    expect(await catchCode(failing)).toBe('STORE_FAILED');
    expect(await listJobs(database)).toEqual(jobs);
    expect(await store.findIssue('local#2')).toBeUndefined();
  });

  it('stores no order if the queue itself fails', async () => {
    const url = await createDatabase();
    const [store, database] = [await openSite(url), await openPlain(url)];
    await database.query(`ALTER TABLE sluice_queue.job RENAME TO elsewhere`);
    expect(await catchCode(store.submitOrder(sampleSubmission()))).toBe('STORE_FAILED');
    expect(await store.findIssue('local#1')).toBeUndefined();
    expect(await store.claimRun(sampleClaim())).toBeUndefined();
  });

  it('wakes the workers of all machines, and is empty afterwards', async () => {
    const url = await makeSite();
    const [store, one, two] = [await openSite(url), await openSite(url), await openSite(url)];
    const database = await openPlain(url);
    const wakes = [vi.fn<() => void>(), vi.fn<() => void>()];
    onTestFinished(one.watchQueue(() => wakes[0]?.()));
    onTestFinished(two.watchQueue(() => wakes[1]?.()));
    await eventually(() => expect(wakes.every((wake) => wake.mock.calls.length > 0)).toBe(true));
    for (const wake of wakes) wake.mockClear();
    for (let index = 0; index < 5; index++) await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }));
    await eventually(() => expect(wakes.every((wake) => wake.mock.calls.length > 0)).toBe(true));
    await eventually(async () => expect(await listJobs(database)).toEqual([]));
  });

  it('delivers wake-ups that were sent while no worker was running', async () => {
    const url = await makeSite();
    const store = await openSite(url);
    await store.submitOrder(sampleSubmission());
    await store.close();
    const later = await openSite(url);
    const wake = vi.fn<() => void>();
    onTestFinished(later.watchQueue(wake));
    await eventually(() => expect(wake).toHaveBeenCalled());
    expect(await later.claimRun(sampleClaim())).toBeDefined();
  });

  it('delivers the wake-up of a killed worker again', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    await store.submitOrder(sampleSubmission());
    await database.query(`UPDATE sluice_queue.job SET state = 'active', started_on = now() - interval '1 day'`);
    onTestFinished(store.watchQueue(() => undefined));
    await eventually(async () => expect(await listJobs(database)).toEqual([]));
  });

  it('assigns nothing: of two workers woken by one order one claims it, and a needless wake-up changes nothing', async () => {
    const url = await makeSite();
    const [one, two] = [await openSite(url), await openSite(url)];
    await one.submitOrder(sampleSubmission());
    const claims = await Promise.all([one.claimRun(sampleClaim('w1')), two.claimRun(sampleClaim('w2'))]);
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await one.claimRun(sampleClaim('w1'))).toBeUndefined();
  });

  it('survives the loss of its tables while it is watched', async () => {
    const url = await createDatabase();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const wake = vi.fn<() => void>();
    onTestFinished(store.watchQueue(wake));
    await eventually(() => expect(wake).toHaveBeenCalledTimes(1));
    await database.query('DROP SCHEMA sluice_queue CASCADE');
    await database.query(`SELECT pg_notify('sluice_queue', '')`);
    await eventually(() => expect(wake.mock.calls.length).toBeGreaterThan(1));
    // Longer than the time between two looks into the queue: each of them fails, and no one notices.
    await database.query('SELECT pg_sleep(1.2)');
    expect(await store.findIssue('local#1')).toBeUndefined();
  });
});

describe('claims of several machines', () => {
  it('never take two orders of one repository, nor more of a type than allowed', async () => {
    const url = await makeSite();
    const stores = await Promise.all([1, 2, 3, 4].map(async () => openSite(url)));
    const [first] = stores;
    for (let index = 0; index < 12; index++) {
      const request = { issue_ref: `local#${index}`, repo_dir: `/repo/${index % 3}` };
      await first?.submitOrder(sampleSubmission(request, { workerType: index % 3 === 0 ? 'a' : 'b' }));
    }
    const taken: string[] = [];
    for (let round = 0; round < 4; round++) {
      const claims = await Promise.all(
        stores.map(async (store, index) => store.claimRun(sampleClaim(`w${index}`, { concurrency: { b: 1 } }))),
      );
      const records = claims.flatMap((claim) => claim?.order ?? []);
      // One of type a in repository 0, one of type b in one of the other two.
      expect(records.map((record) => record.worker_type).toSorted()).toEqual(['a', 'b']);
      expect(new Set(records.map((record) => record.order.repo_dir)).size).toBe(2);
      taken.push(...records.map((record) => record.order.issue_ref));
      for (const record of records) await first?.settleOrder(sampleSettlement(record));
    }
    expect(new Set(taken).size).toBe(8);
  });
});
