import { describe, expect, it } from 'vitest';
import type { Store } from '../store.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim, sampleSettlement, sampleSubmission, sampleWorker } from './fixtures/order-samples.js';
import { createRunResult, sampleSpec } from './fixtures/run-samples.js';

const LEASE = { leaseMs: 1000, now: NOW } as const;
const POD = { placement: 'kubernetes', workdir: '/work' } as const;

async function add(store: Store, id: string): Promise<void> {
  await store.createRun({ id, spec: sampleSpec(POD), state: 'queued', now: NOW });
}

const claim = (id: string, workerId = `run:${id}`) => ({ id, workerId, placement: 'kubernetes', ...LEASE });

/** The contract of runs that servers place. */
export function describePlacedRuns(makeSite: MakeSite): void {
  describe('runs that servers place', () => {
    it('are not claimed by workers, share no folder, and are listed by priority', async () => {
      const store = await openSite(await makeSite());
      await add(store, 'r1');
      await add(store, 'r2');
      const spec = { ...sampleSpec(POD), prompt: 'x' };
      const { record } = await store.submitOrder({ ...sampleSubmission({ priority: 1 }), spec });
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
      const listed = await store.listToPlace(NOW, 10);
      expect(listed.map(({ id }) => id)).toEqual([record.run, 'r1', 'r2']);
      const waiting_for = { reason: 'placement', placement: 'kubernetes' };
      expect(listed[0]?.waiting_for).toEqual(waiting_for);
      expect(await store.findRun('r2')).toMatchObject({ state: 'queued', waiting_for });
      expect(await store.listToPlace(NOW, 1)).toHaveLength(1);
    });

    it('are claimed once, by one of two servers, within the limits of their wrapper type', async () => {
      const store = await openSite(await makeSite());
      await add(store, 'r1');
      const claims = ['run:a', 'run:b'].map(async (workerId) => store.claimToPlace(claim('r1', workerId)));
      expect((await Promise.all(claims)).filter((claimed) => claimed !== undefined)).toHaveLength(1);
      const limited = await Promise.all(
        ['one', 'two'].map(async (issue) =>
          store.submitOrder({
            ...sampleSubmission({ issue_ref: `local#${issue}` }, { workerType: 'limited' }),
            spec: sampleSpec(POD),
          }),
        ),
      );
      const [first = '', second = ''] = limited.map(({ record }) => record.run);
      const concurrency = { limited: 1 };
      expect(await store.claimToPlace({ ...claim(first), concurrency })).toBeDefined();
      expect(await store.claimToPlace({ ...claim(second), concurrency })).toBeUndefined();
    });

    it('are taken over by one process with the token of the claim, which can ask again', async () => {
      const store = await openSite(await makeSite());
      await add(store, 'r1');
      await store.claimToPlace(claim('r1'));
      const take = async (from: string, own: string) =>
        store.takePlaced({ id: 'r1', from, worker: sampleWorker(own), ...LEASE });
      expect(await take('run:other', 'run:other/1')).toBeUndefined();
      expect(await take('run:r1', 'run:r1/1')).toMatchObject({
        record: { owner: { worker_id: 'run:r1/1' } },
        order: null,
      });
      expect(await take('run:r1', 'run:r1/2')).toBeUndefined();
      expect(await take('run:r1', 'run:r1/1')).toBeDefined();
      expect(await store.setPlace({ id: 'r1', workerId: 'run:r1', name: 'pod', uid: 'u' })).toBe(true);
      expect(await store.setPlace({ id: 'r1', workerId: 'run:r', name: 'other', uid: null })).toBe(false);
      expect(await store.listPlaced()).toMatchObject([
        { id: 'r1', run: { id: 'r1' }, placement: 'kubernetes', name: 'pod', uid: 'u', tries: 1 },
      ]);
      expect(await store.markStarted({ id: 'r1', workerId: 'run:r1/1', now: NOW })).toBe('started');
      expect(await take('run:r1', 'run:r1/1')).toBeUndefined();
    });

    it('stay with the servers when their lease expires, and are queued again only if they never started', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) {
        await add(store, id);
        await store.claimToPlace(claim(id));
        await store.setPlace({ id, workerId: `run:${id}`, name: id, uid: null });
      }
      await store.markStarted({ id: 'r2', workerId: 'run:r2', now: NOW });
      const later = NOW + 5000;
      expect(await store.hasExpiredRuns(later)).toBe(false);
      expect(await store.requeueExpired(later)).toBe(0);
      expect(await store.listExpiredRuns(later)).toEqual([]);
      const requeue = async (id: string) => store.requeuePlaced({ id, workerId: `run:${id}`, retryAt: later });
      expect(await Promise.all([requeue('r1'), requeue('r2')])).toEqual([true, false]);
      expect(await store.findRun('r1')).toMatchObject({ state: 'queued', owner: null });
      await store.forgetPlace('r1');
      expect(await store.listToPlace(NOW, 10)).toEqual([]);
      expect(await store.listToPlace(later, 10)).toMatchObject([{ id: 'r1' }]);
      await store.claimToPlace(claim('r1', 'run:again'));
      expect(await store.listPlaced('r1')).toMatchObject([{ id: 'r2' }]);
      expect(await store.listPlaced()).toMatchObject([{ id: 'r1', name: null, tries: 2 }, { id: 'r2' }]);
      await store.forgetPlaced('r1');
      expect(await store.listPlaced()).toMatchObject([{ id: 'r2' }]);
    });

    it('can be taken back at any time: the old claim can do nothing any more', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder({ ...sampleSubmission(), spec: sampleSpec(POD) });
      const id = record.run;
      await store.claimToPlace(claim(id, 'run:x'));
      await store.markStarted({ id, workerId: 'run:x', now: NOW });
      const fence = { id, to: 'placing:1', ...LEASE };
      expect(await store.fenceRun({ ...fence, from: 'run:y' })).toBe(false);
      expect(await store.fenceRun({ ...fence, from: 'run:x' })).toBe(true);
      expect(await store.renewRun({ id, workerId: 'run:x', ...LEASE })).toMatchObject({ held: false });
      const settlement = sampleSettlement(record);
      expect(await catchCode(store.settleOrder({ ...settlement, heldBy: 'run:x' }))).toBe('ORDER_NOT_FOUND');
      expect(await store.findRun(id)).toMatchObject({ state: 'running' });
      expect(await store.settleOrder({ ...settlement, heldBy: 'placing:1' })).toMatchObject({ repeated: false });
      expect(await store.settleOrder({ ...settlement, heldBy: 'placing:1' })).toMatchObject({ repeated: true });
      expect(await store.settleOrder({ ...settlement, heldBy: 'run:x' })).toMatchObject({ repeated: true });
    });

    it('that wait for an answer without a place are placed again with it', async () => {
      const store = await openSite(await makeSite());
      await add(store, 'r1');
      await store.claimToPlace(claim('r1', 'run:x'));
      await store.markStarted({ id: 'r1', workerId: 'run:x', now: NOW });
      await store.setWaiting({ id: 'r1', workerId: 'run:x', now: NOW });
      await store.fenceRun({ id: 'r1', from: 'run:x', to: 'parked:1', ...LEASE });
      expect(await store.listPlaced()).toMatchObject([{ id: 'r1', isCalled: false }]);
      expect(await store.postReply('r1', 'yes')).toBe('posted');
      expect(await store.listPlaced()).toMatchObject([{ id: 'r1', isCalled: true }]);
      const requeue = { id: 'r1', workerId: 'parked:1', retryAt: NOW };
      expect(await store.requeuePlaced(requeue)).toBe(false);
      expect(await store.requeuePlaced({ ...requeue, isResumed: true })).toBe(true);
      expect(await store.claimToPlace(claim('r1', 'run:y'))).toMatchObject({ state: 'running' });
      const taken = await store.takePlaced({ id: 'r1', from: 'run:y', worker: sampleWorker('run:y/1'), ...LEASE });
      expect(taken?.record.started_at).not.toBeNull();
      expect(await store.listPlaced()).toMatchObject([{ tries: 1 }]);
      await store.setWaiting({ id: 'r1', workerId: 'run:y/1', now: NOW });
      expect(await store.renewRun({ id: 'r1', workerId: 'run:y/1', ...LEASE })).toMatchObject({ reply: 'yes' });
    });

    it('are forgotten after they have ended, even if they were deleted', async () => {
      const store = await openSite(await makeSite());
      await add(store, 'r1');
      await store.claimToPlace(claim('r1'));
      await store.endRun({ id: 'r1', workerId: 'run:r1', result: createRunResult({}), now: NOW });
      expect(await store.listPlaced()).toMatchObject([{ id: 'r1', run: { state: 'ended' } }]);
      await store.forgetPlaced('r1');
      expect(await store.listPlaced()).toEqual([]);
    });
  });
}
