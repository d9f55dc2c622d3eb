import { describe, expect, it } from 'vitest';
import type { RunClaim } from '../ports/index.js';
import type { Labels } from '../records/index.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim, sampleSubmission, sampleWorker } from './fixtures/order-samples.js';
import { createRunResult, sampleSpec } from './fixtures/run-samples.js';

/** Queues runs of a caller, each in its own folder. */
async function queue(store: Store, caller: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await store.recordRequest({ run: id, caller, issueRef: null, now: NOW });
    await store.createRun({ id, spec: sampleSpec({ workdir: `/${id}` }), state: 'queued', now: NOW });
  }
}

async function claim(store: Store, change: Partial<RunClaim> = {}): Promise<string | undefined> {
  return (await store.claimRun(sampleClaim('w1', change)))?.record.id;
}

async function claimAll(store: Store): Promise<string[]> {
  const claimed: string[] = [];
  for (let id = await claim(store); id !== undefined; id = await claim(store)) claimed.push(id);
  return claimed;
}

/** Queues one more run of caller `a` and the first one of caller `b`, and returns the next two claims. */
export async function claimWithNewCaller(store: Store): Promise<readonly (string | undefined)[]> {
  await queue(store, 'a', ['a-last']);
  await queue(store, 'b', ['b1']);
  return [await claim(store), await claim(store)];
}

/** A claim by a worker on another host. */
function on(host: string): Partial<RunClaim> {
  return { worker: { ...sampleWorker('w1'), host } };
}

/** The contract of claims: callers take turns, labels fit, and a folder belongs to a host. */
export function describeFairClaims(makeSite: MakeSite): void {
  describe('callers', () => {
    it('take turns, however many runs one of them has queued', async () => {
      const store = await openSite(await makeSite());
      await queue(store, 'a', ['a1', 'a2', 'a3', 'a4', 'a5']);
      expect(await claim(store)).toBe('a1');
      await queue(store, 'b', ['b1', 'b2']);
      await queue(store, 'c', ['c1']);
      expect(await claimAll(store)).toEqual(['a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
    });

    it('do not wait for the hundreds of runs that another one queued first', async () => {
      const store = await openSite(await makeSite());
      await queue(
        store,
        'a',
        Array.from({ length: 300 }, (_, index) => `a${index}`),
      );
      await queue(store, 'b', ['b0', 'b1']);
      expect([await claim(store), await claim(store), await claim(store), await claim(store)]).toEqual([
        'a0',
        'b0',
        'a1',
        'b1',
      ]);
    });

    it('take turns again after everything that was running has ended', async () => {
      const store = await openSite(await makeSite());
      await queue(store, 'a', ['a1', 'a2', 'a3', 'a4']);
      for (const id of ['a1', 'a2']) {
        expect(await claim(store)).toBe(id);
        await store.endRun({ id, workerId: 'w1', result: createRunResult(), now: NOW });
      }
      // Their turns begin with that of the next run, not with the first.
      await queue(store, 'b', ['b1', 'b2', 'b3']);
      expect(await claimAll(store)).toEqual(['a3', 'b1', 'a4', 'b2', 'b3']);
    });

    it('do not get ahead by submitting one run after the other', async () => {
      const store = await openSite(await makeSite());
      await queue(store, 'a', ['a1', 'a2', 'a3']);
      const claimed = [await claim(store)];
      for (const id of ['b1', 'b2', 'b3']) {
        await queue(store, 'b', [id]);
        claimed.push(await claim(store));
      }
      expect(claimed).toEqual(['a1', 'a2', 'b1', 'a3']);
    });

    it('do not get ahead by submitting many runs at once', async () => {
      const store = await openSite(await makeSite());
      await Promise.all(Array.from({ length: 60 }, async (_, index) => queue(store, 'a', [`a${index}`])));
      await queue(store, 'b', ['b0', 'b1', 'b2', 'b3']);
      const callers = (await claimAll(store)).map((id) => id.slice(0, 1)).join('');
      expect(callers).toBe('abababab'.padEnd(64, 'a'));
    });

    it('take turns within a priority: a higher one always comes first', async () => {
      const store = await openSite(await makeSite());
      await queue(store, 'a', ['a1', 'a2']);
      const run = '01KA3URGENT';
      await store.recordRequest({ run, caller: 'a', issueRef: 'local#1', now: NOW });
      await store.submitOrder({ ...sampleSubmission({ priority: 1 }), run });
      await queue(store, 'b', ['b1']);
      expect(await claimAll(store)).toEqual([run, 'a1', 'b1', 'a2']);
    });

    it('take turns among runs that few workers can claim, although others have advanced much further', async () => {
      const store = await openSite(await makeSite());
      const labels = { gpu: 'a100' };
      const queueLabelled = async (caller: string, ids: readonly string[]) => {
        for (const id of ids) {
          await store.recordRequest({ run: id, caller, issueRef: null, now: NOW });
          await store.createRun({
            id,
            spec: { ...sampleSpec({ workdir: `/${id}` }), labels },
            state: 'queued',
            now: NOW,
          });
        }
      };
      await queueLabelled('a', ['g1', 'g2', 'g3', 'g4']);
      await queue(store, 'b', ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']);
      for (let count = 1; count < 8; count += 1) expect(await claim(store)).toBe(`p${count}`);
      await queueLabelled('c', ['c1', 'c2']);
      await queue(store, 'd', ['d1']);
      expect([await claim(store), await claim(store)]).toEqual(['p8', 'd1']);
      const claimed: (string | undefined)[] = [];
      for (let count = 0; count < 6; count += 1) claimed.push(await claim(store, { labels }));
      expect(claimed).toEqual(['g1', 'c1', 'g2', 'c2', 'g3', 'g4']);
    });

    it('take turns in one folder, too', async () => {
      const store = await openSite(await makeSite());
      const order: (string | undefined)[] = [];
      for (const id of ['a1', 'a2', 'a3', 'b1']) {
        await store.recordRequest({ run: id, caller: id.slice(0, 1), issueRef: null, now: NOW });
        await store.createRun({ id, spec: sampleSpec({ workdir: '/one' }), state: 'queued', now: NOW });
      }
      for (let id = await claim(store); id !== undefined; id = await claim(store)) {
        order.push(id);
        await store.endRun({ id, workerId: 'w1', result: createRunResult(), now: NOW });
      }
      expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
    });
  });

  describe('labels', () => {
    const queueWith = async (store: Store, id: string, labels: Labels) =>
      store.createRun({ id, spec: sampleSpec({ workdir: `/${id}`, labels }), state: 'queued', now: NOW });

    it('keep a run from workers that lack one of them', async () => {
      const store = await openSite(await makeSite());
      await queueWith(store, 'both', { gpu: 'a100', region: 'eu' });
      await queueWith(store, 'gpu', { gpu: 'a100' });
      await queueWith(store, 'none', {});
      expect(await claim(store, { labels: { region: 'us' } })).toBe('none');
      expect(await claim(store)).toBeUndefined();
      expect(await claim(store, { labels: { gpu: 'h100', region: 'eu' } })).toBeUndefined();
      expect(await claim(store, { labels: { gpu: 'a100' } })).toBe('gpu');
      expect(await claim(store, { labels: { region: 'eu', disk: 'ssd', gpu: 'a100' } })).toBe('both');
    });

    it('do not change the order of the runs that fit', async () => {
      const store = await openSite(await makeSite());
      await queueWith(store, 'r1', { region: 'eu' });
      await queueWith(store, 'r2', {});
      await queueWith(store, 'r3', { region: 'eu' });
      const labels = { region: 'eu' };
      const claimed = [await claim(store, { labels }), await claim(store, { labels }), await claim(store, { labels })];
      expect(claimed).toEqual(['r1', 'r2', 'r3']);
    });

    it('count for orders, with their wrapper type', async () => {
      const store = await openSite(await makeSite());
      const submission = sampleSubmission();
      const spec = { ...submission.spec, labels: { region: 'eu' } };
      const { record } = await store.submitOrder({ ...submission, spec });
      expect(await claim(store)).toBeUndefined();
      const labels = { region: 'eu' };
      expect(await claim(store, { labels, workerTypes: ['other'] })).toBeUndefined();
      expect(await claim(store, { labels, workerTypes: [record.worker_type] })).toBe(record.run);
    });

    it('count for a canceled order, which its worker settles', async () => {
      const store = await openSite(await makeSite());
      const submission = sampleSubmission();
      const { record } = await store.submitOrder({
        ...submission,
        spec: { ...submission.spec, labels: { region: 'eu' } },
      });
      await store.requestCancel(record.run, NOW);
      expect(await claim(store)).toBeUndefined();
      expect(await claim(store, { labels: { region: 'eu' } })).toBe(record.run);
    });
  });

  describe('a folder', () => {
    const queueIn = async (store: Store, folder: string, ids: readonly string[]) => {
      for (const id of ids) {
        await store.createRun({ id, spec: sampleSpec({ workdir: folder }), state: 'queued', now: NOW });
      }
    };

    it('is one folder per host', async () => {
      const store = await openSite(await makeSite());
      await queueIn(store, '/workspace', ['r1', 'r2', 'r3', 'r4']);
      expect(await claim(store, on('one'))).toBe('r1');
      expect(await claim(store, on('one'))).toBeUndefined();
      expect(await claim(store, on('two'))).toBe('r2');
      expect(await claim(store, on('two'))).toBeUndefined();
      expect(await claim(store, on('one'))).toBeUndefined();
      await store.endRun({ id: 'r1', workerId: 'w1', result: createRunResult(), now: NOW });
      expect(await claim(store, on('two'))).toBeUndefined();
      expect(await claim(store, on('one'))).toBe('r3');
      await store.endRun({ id: 'r2', workerId: 'w1', result: createRunResult(), now: NOW });
      expect(await claim(store, on('two'))).toBe('r4');
      expect(await claim(store, on('three'))).toBeUndefined();
    });

    it('is in use on every host by a run whose host is unknown', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({
        id: 'own',
        spec: sampleSpec({ workdir: '/workspace' }),
        state: 'running',
        workerId: 'w1',
        leaseMs: 1000,
        now: NOW,
      });
      await queueIn(store, '/workspace', ['r1', 'r2']);
      expect([await claim(store, on('one')), await claim(store, on('two'))]).toEqual([undefined, undefined]);
      await store.endRun({ id: 'own', workerId: 'w1', result: createRunResult(), now: NOW });
      expect([await claim(store, on('one')), await claim(store, on('two'))]).toEqual(['r1', 'r2']);
    });

    it('has a next run when the first is canceled', async () => {
      const store = await openSite(await makeSite());
      await queueIn(store, '/workspace', ['r1', 'r2', 'r3']);
      await store.requestCancel('r1', NOW);
      expect(await claim(store, on('one'))).toBe('r2');
      await store.requestCancel('r3', NOW);
      expect(await claim(store, on('two'))).toBeUndefined();
    });
  });
}
