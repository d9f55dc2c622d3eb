import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../test/postgres/eventually.js';
import { createDatabase, makeSite } from '../../../test/postgres/fresh-database.js';
import { claimWithNewCaller } from '../contract/fair-claims.contract.js';
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
import type { QueueWatcher } from '../driver.js';
import type { Store } from '../store.js';
import type { PostgresDatabase } from './database.js';
import { openPlain } from './fixtures/open-plain.js';
import { createNotifications } from './notifications.js';

/** A listening connection holds the lock with its number. */
const LIVE_WATCHERS = `SELECT FROM sluice.queue_watchers WHERE NOT pg_try_advisory_xact_lock_shared(listener)`;

interface StartedWatcher {
  readonly wake: ReturnType<typeof vi.fn<() => void>>;
  readonly stop: () => void;
}

/** Watches the queue like a worker with a free slot; resolves once it is registered. */
async function watch(
  store: Store,
  database: PostgresDatabase,
  watcher: QueueWatcher & { worker: string },
): Promise<StartedWatcher> {
  const wake = vi.fn<() => void>();
  const stop = store.watchQueue(() => wake(), watcher);
  onTestFinished(stop);
  await eventually(async () => {
    const { rows } = await database.query(`SELECT FROM sluice.queue_watchers WHERE worker = $1`, [watcher.worker]);
    expect(rows).toHaveLength(1);
  });
  // When listening started, when the watcher was registered, and shortly afterwards.
  await eventually(() => expect(wake).toHaveBeenCalledTimes(3));
  wake.mockClear();
  return { wake, stop };
}

describe('a claimable run', () => {
  it('wakes one worker with a free slot, not all of them', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const watchers = await Promise.all(
      ['w1', 'w2', 'w3'].map(async (worker) => watch(await openSite(url), database, { worker })),
    );
    await store.submitOrder(sampleSubmission());
    const count = () => watchers.reduce((total, { wake }) => total + wake.mock.calls.length, 0);
    await eventually(() => expect(count()).toBe(1));
    // After the first order of a repository, there is nothing more to claim.
    await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }));
    await store.submitOrder(sampleSubmission({ issue_ref: 'local#3', repo_dir: '/elsewhere' }));
    await eventually(() => expect(count()).toBe(2));
  });

  it('wakes a worker that accepts such runs', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const scripts = await watch(await openSite(url), database, {
      worker: 'scripts',
      kinds: ['orders'],
      workerTypes: ['script'],
    });
    const plain = await watch(await openSite(url), database, { worker: 'plain', kinds: ['runs'] });
    for (let number = 1; number <= 5; number += 1) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/${number}` }));
    }
    await eventually(() => expect(scripts.wake).toHaveBeenCalledTimes(5));
    await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
    await eventually(() => expect(plain.wake).toHaveBeenCalledTimes(1));
    expect(scripts.wake).toHaveBeenCalledTimes(5);
  });

  it('wakes no full worker until one of its claims finds nothing', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const [one, two] = [await openSite(url), await openSite(url)];
    const [first, second] = [
      await watch(one, database, { worker: 'one' }),
      await watch(two, database, { worker: 'two' }),
    ];
    const submit = async (number: number) =>
      store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/${number}` }));
    await submit(1);
    expect(await one.claimRun(sampleClaim('w1', { watcher: 'one', isLast: true }))).toBeDefined();
    for (const { wake } of [first, second]) wake.mockClear();
    for (let number = 2; number <= 6; number += 1) await submit(number);
    await eventually(() => expect(second.wake).toHaveBeenCalledTimes(5));
    expect(first.wake).not.toHaveBeenCalled();
    while ((await one.claimRun(sampleClaim('w1', { watcher: 'one' }))) !== undefined);
    second.stop();
    await eventually(async () => {
      expect((await database.query(LIVE_WATCHERS)).rows).toHaveLength(1);
    });
    await submit(7);
    await eventually(() => expect(first.wake).toHaveBeenCalled());
  });

  it('wakes another worker if the worker that claimed the previous run is full', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    for (const number of [1, 2]) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/${number}` }));
    }
    const { wake } = await watch(await openSite(url), database, { worker: 'idle' });
    expect(await store.claimRun(sampleClaim('w1', { isLast: true }))).toBeDefined();
    await eventually(() => expect(wake).toHaveBeenCalledTimes(1));
  });

  it('wakes another worker instead of a worker that is gone', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const crashed = await openPlain(url);
    const gone = createNotifications(crashed);
    onTestFinished(async () => gone.close());
    gone.watchQueue({ worker: 'gone' }, () => undefined);
    const { wake } = await watch(await openSite(url), database, { worker: 'here' });
    await gone.close();
    for (let number = 1; number <= 8; number += 1) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/${number}` }));
    }
    await eventually(() => expect(wake).toHaveBeenCalledTimes(8));
  });

  it('wakes no worker if it is not stored', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const { record } = await store.submitOrder(sampleSubmission());
    const { wake } = await watch(await openSite(url), database, { worker: 'here' });
    // The same ULID twice: the transaction fails after the issue's number was incremented.
    const failing = store.submitOrder({
      ...sampleSubmission({ issue_ref: 'local#2', repo_dir: '/2' }),
      run: record.run,
    });
    expect(await catchCode(failing)).toBe('STORE_FAILED');
    expect(await store.findIssue('local#2')).toBeUndefined();
    await store.submitOrder(sampleSubmission({ issue_ref: 'local#3', repo_dir: '/3' }));
    await eventually(() => expect(wake).toHaveBeenCalledTimes(1));
  });

  it('is claimed by only one of two concurrent workers', async () => {
    const url = await makeSite();
    const [one, two] = [await openSite(url), await openSite(url)];
    await one.submitOrder(sampleSubmission());
    const claims = await Promise.all([one.claimRun(sampleClaim('w1')), two.claimRun(sampleClaim('w2'))]);
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await one.claimRun(sampleClaim('w1'))).toBeUndefined();
  });
});

describe('the queue', () => {
  it('claims the first run of another caller second, after 100,000 runs of one caller were queued', async () => {
    const url = await createDatabase();
    const [store, database] = [await openSite(url), await openPlain(url)];
    // Without triggers, which would look for a worker to wake and a folder in use, 100,000 times.
    await database.query(`
      SET LOCAL session_replication_role = replica;
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, exclusive, caller, turn)
        SELECT 'a' || n, '{}', 'codex', 'queued', 0, '/a/' || n, 1, 'a', n FROM generate_series(1, 100000) AS n`);
    expect(await claimWithNewCaller(store)).toEqual(['a1', 'b1']);
  });
});

describe('a comment to deliver', () => {
  it('wakes a worker, even a full worker', async () => {
    const url = await makeSite();
    const [store, database] = [await openSite(url), await openPlain(url)];
    const { record } = await store.submitOrder(sampleSubmission());
    const item = sampleItem(record);
    await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
    const { wake } = await watch(await openSite(url), database, { worker: 'full' });
    await database.query(`UPDATE sluice.queue_watchers SET is_full = true`);
    await store.resolveItem(sampleResolution(item, record, 'accept'));
    await eventually(() => expect(wake).toHaveBeenCalledTimes(1));
  });
});

describe('claims by multiple hosts', () => {
  it('never take two orders of one repository, or more orders of a type than allowed', async () => {
    const url = await makeSite();
    const stores = await Promise.all([1, 2, 3, 4].map(async () => openSite(url)));
    const [first] = stores;
    for (let index = 0; index < 12; index++) {
      const request = { issue_ref: `local#${index}`, repo_dir: `/repo/${index % 3}` };
      await first?.submitOrder(sampleSubmission(request, { workerType: index % 3 === 0 ? 'a' : 'b' }));
    }
    const claimedRefs: string[] = [];
    for (let round = 0; round < 4; round++) {
      const claims = await Promise.all(
        stores.map(async (store, index) => store.claimRun(sampleClaim(`w${index}`, { concurrency: { b: 1 } }))),
      );
      const records = claims.flatMap((claim) => claim?.order ?? []);
      // One run of type a in repository 0, one of type b in either of the other two.
      expect(records.map((record) => record.worker_type).toSorted()).toEqual(['a', 'b']);
      expect(new Set(records.map((record) => record.order.repo_dir)).size).toBe(2);
      claimedRefs.push(...records.map((record) => record.order.issue_ref));
      for (const record of records) await first?.settleOrder(sampleSettlement(record));
    }
    expect(new Set(claimedRefs).size).toBe(8);
  });
});
