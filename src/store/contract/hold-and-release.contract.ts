import { describe, expect, it } from 'vitest';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { claimOf, holdOf, itemOf, NOW, settlementOf, submissionOf, workerOf } from './fixtures/order-samples.js';

/** How orders are held by those who do them, and given back when their holder is gone. */
export function describeHoldAndRelease(makeSite: MakeSite): void {
  describe('startOrder and renewOrder', () => {
    it('record the process that does the work, and when it began', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf());
      expect(await store.startOrder({ ...holdOf(record), pid: null, pidStarted: null })).toBe(true);
      const hold = holdOf(record, 'w1', NOW + 50);
      expect(await store.startOrder({ ...hold, pid: 99, pidStarted: 'boot+9' })).toBe(true);
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({
        state: 'running',
        started_at: '2026-11-15T06:00:00.000Z',
        owner: { ...workerOf('w1'), pid: 99, pid_started: 'boot+9' },
      });
    });

    it('are for the owner of the order only', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      const renewal = { ...holdOf(record), leaseMs: 1000 };
      const start = { ...holdOf(record), pid: 1, pidStarted: null };
      expect(await store.renewOrder(renewal)).toBe('lost');
      expect(await store.startOrder(start)).toBe(false);
      await store.claimOrder(claimOf('w2'));
      expect(await store.renewOrder(renewal)).toBe('lost');
      expect(await store.startOrder(start)).toBe(false);
      expect(await store.renewOrder({ ...renewal, workerId: 'w2', now: NOW + 500 })).toBe('held');
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({
        state: 'claimed',
        lease_until: NOW + 1500,
      });
      await store.settleOrder(settlementOf(record));
      expect(await store.renewOrder({ ...renewal, workerId: 'w2' })).toBe('lost');
    });

    it('tell the owner that another run has taken its place, and hold the repository until it is gone', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf());
      await store.startOrder({ ...holdOf(record), pid: 1, pidStarted: null });
      await store.submitOrder(submissionOf());
      expect(await store.renewOrder({ ...holdOf(record), leaseMs: 2000 })).toBe('cancel');
      expect(await store.claimOrder(claimOf('w2'))).toBeUndefined();
      await store.settleOrder(settlementOf(record));
      expect((await store.claimOrder(claimOf('w2')))?.record.order.run_id).toBe('2026-11-15-backend-0002');
    });

    it('do not start an order whose place is taken, and let its repository go', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf());
      await store.submitOrder(submissionOf());
      expect(await store.startOrder({ ...holdOf(record), pid: 1, pidStarted: null })).toBe(false);
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({ state: 'canceled' });
      expect(await store.claimOrder(claimOf('w2'))).toBeDefined();
    });
  });

  describe('releaseExpired', () => {
    it('puts back what was claimed and never started', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf('w1', { leaseMs: 1000 }));
      expect(await store.releaseExpired(NOW + 999, workerOf('w2'))).toEqual({ requeued: 0, ghosts: [] });
      expect(await store.releaseExpired(NOW + 1000, workerOf('w2'))).toEqual({ requeued: 1, ghosts: [] });
      expect(await store.findOrder('local#1', record.order.run_id)).toEqual(record);
      expect(await store.renewOrder({ ...holdOf(record), leaseMs: 1000 })).toBe('lost');
    });

    it('returns what had started, with its owner, until it is settled', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf());
      await store.startOrder({ ...holdOf(record), pid: 99, pidStarted: 'boot+9' });
      for (let turn = 0; turn < 2; turn++) {
        const { requeued, ghosts } = await store.releaseExpired(NOW + 1000, workerOf('w2'));
        expect(requeued).toBe(0);
        expect(ghosts).toMatchObject([
          { state: 'running', owner: { worker_id: 'w1', pid: 99, pid_started: 'boot+9' } },
        ]);
      }
      expect(await store.claimOrder(claimOf('w2'))).toBeUndefined();
      await store.settleOrder(settlementOf(record, 'needs-human', { item: itemOf(record) }));
      expect(await store.releaseExpired(NOW + 1000, workerOf('w2'))).toEqual({ requeued: 0, ghosts: [] });
    });

    it('leaves the orders of the caller alone', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf('w1'));
      expect(await store.releaseExpired(NOW + 9000, workerOf('w1'))).toEqual({ requeued: 0, ghosts: [] });
      expect(await store.renewOrder({ ...holdOf(record), leaseMs: 1000 })).toBe('held');
    });

    it('cancels instead of putting back what another run has replaced', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(submissionOf());
      await store.claimOrder(claimOf('w1'));
      await store.submitOrder(submissionOf());
      expect(await store.releaseExpired(NOW + 9000, workerOf('w2'))).toEqual({ requeued: 0, ghosts: [] });
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({ state: 'canceled' });
    });

    it('returns a bounded number of ghosts at once, the oldest first', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < GHOSTS_AT_ONCE + 1; index++) {
        await store.submitOrder(submissionOf({ issue_ref: `local#${index}`, repo_dir: `/repo/${index}` }));
        const claimed = await store.claimOrder(claimOf());
        if (claimed !== undefined) {
          await store.startOrder({ ...holdOf(claimed.record), pid: null, pidStarted: null });
        }
      }
      const { ghosts } = await store.releaseExpired(NOW + 9000, workerOf('w2'));
      expect(ghosts).toHaveLength(GHOSTS_AT_ONCE);
      expect(ghosts[0]?.order.issue_ref).toBe('local#0');
    });
  });
}
