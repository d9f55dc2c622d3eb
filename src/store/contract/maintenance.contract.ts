import { describe, expect, it } from 'vitest';
import type { Store } from '../store.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleClaim,
  sampleHold,
  sampleItem,
  sampleMessage,
  NOW,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import { sampleFcmp, sampleRasp, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const CLAIM = { workerId: 'w1', leaseMs: 1000, now: NOW };

/** Adds a run that ends this many milliseconds after the start of the test, with five events of each protocol. */
async function endRun(store: Store, id: string, ms: number) {
  const running = { state: 'running', workerId: 'w1', leaseMs: 1000, now: NOW } as const;
  await store.createRun({ id, spec: sampleSpec(), ...running });
  for (const seq of [1, 2, 3, 4, 5]) await store.append(id, [sampleFcmp(seq), sampleRasp(1, seq)]);
  await store.endRun({ id, workerId: 'w1', result: createRunResult(), now: NOW + ms });
}

/** The contract of counting unfinished work and listing ended runs. */
export function describeMaintenance(makeSite: MakeSite): void {
  describe('countOpenWork', () => {
    it('counts unfinished work', async () => {
      const store = await openSite(await makeSite());
      expect(await store.countOpenWork()).toEqual({
        runs: { queued: 0, running: 0, waiting: 0 },
        orders: { queued: 0, running: 0 },
        inbox: 0,
        outbox: { open: 0, dead: 0, oldest: null },
      });
      const { record } = await store.submitOrder(sampleSubmission());
      const item = sampleItem(record);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item, outbox: [sampleMessage(record)] }));
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }));
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#3', repo_dir: '/repositories/two' }));
      await store.claimRun(sampleClaim());
      for (const id of ['r1', 'r2']) {
        await store.createRun({ id, spec: sampleSpec({ workdir: `/${id}` }), state: 'queued', now: NOW });
      }
      await store.claimRun(sampleClaim('w1', { kinds: ['runs'] }));
      await endRun(store, 'r3', 0);
      expect(await store.countOpenWork()).toEqual({
        runs: { queued: 2, running: 2, waiting: 0 },
        orders: { queued: 1, running: 1 },
        inbox: 1,
        outbox: { open: 1, dead: 0, oldest: NOW },
      });
    });

    it('distinguishes waiting, in-flight and dead messages', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const outbox = ['a', 'b', 'c'].map((sink) => sampleMessage(record, { sink }));
      await store.settleOrder(sampleSettlement(record, 'advance', { outbox }));
      const [first, second] = await store.claimOutbox({ ...CLAIM, limit: 2 });
      const failure = { workerId: 'w1', error: 'gone', retryAt: null };
      await store.markFailed({ id: first?.id ?? '', ...failure });
      const { record: next } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      await store.markStarted(sampleHold(next));
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      await store.claimRun(sampleClaim());
      await store.setWaiting({ id: 'r1', workerId: 'w1', now: NOW });
      expect(second?.state).toBe('sending');
      expect(await store.countOpenWork()).toEqual({
        runs: { queued: 0, running: 1, waiting: 1 },
        orders: { queued: 0, running: 1 },
        inbox: 0,
        outbox: { open: 2, dead: 1, oldest: NOW },
      });
    });
  });

  describe('claims for metrics', () => {
    it('are granted to one process, for a day', async () => {
      const store = await openSite(await makeSite());
      const claim = async (ids: readonly string[], ms = 0) =>
        (await store.claimForMetrics({ ids, now: NOW + ms })).toSorted();
      expect(await claim(['a', 'b', 'b', `'"`])).toEqual([`'"`, 'a', 'b']);
      expect(await claim(['b', 'c'], 1000)).toEqual(['c']);
      expect(await claim([])).toEqual([]);
      const day = 24 * 60 * 60 * 1000;
      expect(await claim(['a', 'c'], day)).toEqual([]);
      expect(await claim(['a', 'c'], day + 1)).toEqual(['a']);
    });

    it('are granted once when multiple processes request them concurrently', async () => {
      const store = await openSite(await makeSite());
      const ids = Array.from({ length: 50 }, (_, index) => `run-${index}`);
      const claims = await Promise.all(
        [ids, ids.toReversed(), ids].map(async (requested) => store.claimForMetrics({ ids: requested, now: NOW })),
      );
      expect(claims.flat().toSorted()).toEqual(ids.toSorted());
    });
  });

  it('returns the host that claimed a run, even after its end', async () => {
    const store = await openSite(await makeSite());
    const { record } = await store.submitOrder(sampleSubmission());
    await store.submitOrder(sampleSubmission({ issue_ref: 'local#2', repo_dir: '/repositories/two' }));
    const claimed = await store.claimRun(sampleClaim());
    await store.settleOrder(sampleSettlement(record));
    expect(await store.findHosts([record.run, 'gone', `'"\\u0000`])).toEqual(
      new Map([[record.run, claimed?.record.owner?.host]]),
    );
  });

  describe('runs that have ended', () => {
    it('are listed in the order they ended, page by page', async () => {
      const store = await openSite(await makeSite());
      for (const [id, ms] of [
        ['a', 30],
        ['b', 10],
        ['c', 20],
        ['d', 20],
        ['e', 5],
      ] as const)
        await endRun(store, id, ms);
      await store.createRun({ id: 'f', spec: sampleSpec(), state: 'queued', now: NOW });
      const first = await store.listEndedRuns({ since: NOW + 10, limit: 2 });
      const second = await store.listEndedRuns({ since: NOW + 10, limit: 2, cursor: first.next_cursor ?? '' });
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['b', 'c', 'd', 'a']);
      expect(second.next_cursor).toBeNull();
      expect(first.items[0]).toEqual(await store.findRun('b'));
      expect(await catchCode(store.listEndedRuns({ since: 0, cursor: 'x' }))).toBe('INVALID_CURSOR');
    });

    it('are settled if they ended before a given time and their order is decided', async () => {
      const store = await openSite(await makeSite());
      await endRun(store, 'a', 10);
      await endRun(store, 'b', 20);
      await store.createRun({ id: 'c', spec: sampleSpec(), state: 'running', now: NOW });
      const ids = ['a', 'b', 'c', 'gone', `'"\\u0000`];
      expect(await store.findSettledRuns({ ids, endedBefore: NOW + 20 })).toEqual(['a']);
      expect((await store.findSettledRuns({ ids, endedBefore: NOW + 21 })).toSorted()).toEqual(['a', 'b']);
      const { record } = await store.submitOrder({ ...sampleSubmission(), run: 'd' });
      expect(await store.findSettledRuns({ ids: ['d'], endedBefore: NOW + 1e9 })).toEqual([]);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item: sampleItem(record) }));
      expect(await store.findSettledRuns({ ids: ['d'], endedBefore: NOW + 1e9 })).toEqual(['d']);
    });
  });
}
