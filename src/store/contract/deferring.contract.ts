import { describe, expect, it } from 'vitest';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim } from './fixtures/order-samples.js';
import { createRunResult, sampleSpec } from './fixtures/run-samples.js';

const QUEUED = { state: 'queued', now: NOW } as const;
const HOLD = { id: 'r1', workerId: 'w1', now: NOW } as const;

/** The contract of deferred runs, which must not be claimed before a given time. */
export function describeDeferring(makeSite: MakeSite): void {
  describe('deferring runs', () => {
    it('claims a released run again only after its delay', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim('w1'));
      expect(await store.releaseRun({ ...HOLD, workerId: 'w2', retryAt: NOW })).toBe(false);
      expect(await store.releaseRun({ ...HOLD, retryAt: NOW + 500 })).toBe(true);
      expect(await store.findRun('r1')).toMatchObject({
        state: 'queued',
        owner: null,
        waiting_for: { reason: 'folder', run: null },
      });
      expect(await store.claimRun(sampleClaim('w2', { now: NOW + 499 }))).toBeUndefined();
      expect((await store.claimRun(sampleClaim('w2', { now: NOW + 500 })))?.record.id).toBe('r1');
      expect(await store.releaseRun({ ...HOLD, retryAt: NOW })).toBe(false);
      await store.markStarted({ ...HOLD, workerId: 'w2' });
      expect(await store.releaseRun({ ...HOLD, workerId: 'w2', retryAt: NOW })).toBe(false);
    });

    it('queues a started run again only if it waits for an answer, which is kept for the next worker', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim('w1'));
      await store.markStarted(HOLD);
      const release = { ...HOLD, retryAt: 0, isWaiting: true };
      expect(await store.releaseRun(release)).toBe(false);
      await store.setWaiting(HOLD);
      expect(await store.releaseRun({ ...release, workerId: 'w2' })).toBe(false);
      expect(await store.releaseRun(release)).toBe(true);
      expect(await store.postReply('r1', 'yes')).toBe('posted');
      const claimed = await store.claimRun(sampleClaim('w2'));
      expect(claimed?.record).toMatchObject({ id: 'r1', started_at: expect.any(String) });
      await store.setWaiting({ ...HOLD, workerId: 'w2' });
      expect(await store.renewRun({ ...HOLD, workerId: 'w2', leaseMs: 1000 })).toMatchObject({ reply: 'yes' });
    });

    it('reports a released run as waiting only for a worker once its delay is over', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim('w1'));
      await store.releaseRun({ ...HOLD, retryAt: NOW + 500 });
      expect(await store.claimRun(sampleClaim('w2', { kinds: ['orders'], now: NOW + 500 }))).toBeUndefined();
      expect((await store.findRun('r1'))?.waiting_for).toBeNull();
      expect((await store.claimRun(sampleClaim('w2', { now: NOW + 500 })))?.record.id).toBe('r1');
    });

    it('claims the next run of a folder while the previous run is deferred', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2', 'r3']) await store.createRun({ id, spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim('w1'));
      await store.releaseRun({ ...HOLD, retryAt: NOW + 500 });
      expect((await store.claimRun(sampleClaim('w1')))?.record.id).toBe('r2');
      await store.releaseRun({ ...HOLD, id: 'r2', retryAt: NOW + 400 });
      expect((await store.claimRun(sampleClaim('w1', { now: NOW + 500 })))?.record.id).toBe('r1');
      await store.endRun({ ...HOLD, result: createRunResult() });
      expect((await store.claimRun(sampleClaim('w1', { now: NOW + 500 })))?.record.id).toBe('r2');
    });
  });
}
