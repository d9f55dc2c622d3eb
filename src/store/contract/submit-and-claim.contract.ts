import { describe, expect, it } from 'vitest';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import type { ClaimedRun } from '../ports/index.js';
import type { Store } from '../store.js';
import {
  sampleClaim,
  sampleItem,
  NOW,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
  sampleWorker,
} from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT } from './fixtures/run-samples.js';

/** The contract of submitting and claiming orders. */
export function describeSubmitAndClaim(makeSite: MakeSite): void {
  describe('submitOrder', () => {
    it("assigns the issue's next run id, makes it active and queues a run for it", async () => {
      const store = await openSite(await makeSite());
      const submission = sampleSubmission({ instructions: UNTRUSTED_TEXT, constraints: ['small'], priority: 2 });
      const { record, repeated } = await store.submitOrder(submission);
      expect(repeated).toBe(false);
      expect(record).toEqual({
        order: { ...submission.request, run_id: '2026-11-15-backend-0001' },
        run: submission.run,
        base_commit: null,
        worker_type: 'script',
        state: 'queued',
        created_at: '2026-11-15T06:00:00.000Z',
        started_at: null,
        settled_at: null,
        decision: null,
        result: null,
      });
      expect(await store.findOrder('local#1', '2026-11-15-backend-0001')).toEqual(record);
      expect(await store.findRun(record.run)).toMatchObject({
        state: 'queued',
        spec: submission.spec,
        order: { issue_ref: 'local#1', run_id: '2026-11-15-backend-0001' },
      });
      expect(await store.findIssue('local#1')).toEqual({
        issue_ref: 'local#1',
        state: 'doing',
        active_run_id: '2026-11-15-backend-0001',
        last_run_number: 1,
        updated_at: '2026-11-15T06:00:00.000Z',
      });
    });

    it("throws the error of the caller's own function unchanged, and stores nothing", async () => {
      const store = await openSite(await makeSite());
      const own = new Error('no run id');
      const makeRunId = (): never => {
        throw own;
      };
      await expect(store.submitOrder({ ...sampleSubmission(), makeRunId })).rejects.toBe(own);
      expect(await store.findIssue('local#1')).toBeUndefined();
      expect((await store.submitOrder(sampleSubmission())).record.order.run_id).toBe('2026-11-15-backend-0001');
    });

    it("numbers each issue's runs, and never assigns a number twice under concurrent requests", async () => {
      const store = await openSite(await makeSite());
      const submissions = Array.from({ length: 12 }, (_, index) =>
        sampleSubmission({ issue_ref: `local#${index % 2}` }),
      );
      const ids = await Promise.all(
        submissions.map(async (submission) => {
          const { order } = (await store.submitOrder(submission)).record;
          return `${order.issue_ref} ${order.run_id}`;
        }),
      );
      expect(new Set(ids).size).toBe(12);
      expect(ids.toSorted().at(-1)).toBe('local#1 2026-11-15-backend-0006');
    });

    it("returns the same order for the same request id, regardless of the issue's state", async () => {
      const store = await openSite(await makeSite());
      const first = await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
      expect(await store.submitOrder(sampleSubmission({ request_id: 'r1' }))).toEqual({ ...first, repeated: true });
      await store.settleOrder(sampleSettlement(first.record, 'needs-human'));
      const again = await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
      expect([again.repeated, again.record.state]).toEqual([true, 'settled']);
      expect(await store.findIssue('local#1')).toMatchObject({ last_run_number: 1 });
    });

    it('recognizes the same request regardless of field order and undefined fields', async () => {
      const store = await openSite(await makeSite());
      const first = sampleSubmission({ request_id: 'r1', instructions: UNTRUSTED_TEXT, links: ['a', 'b'] });
      await store.submitOrder(first);
      const reordered = Object.fromEntries(Object.entries({ ...first.request, spec_ref: undefined }).toReversed());
      const again = await store.submitOrder({ ...sampleSubmission(), request: reordered as typeof first.request });
      expect(again.repeated).toBe(true);
    });

    it.each([
      ['about another issue', { issue_ref: 'local#2' }],
      ['with other instructions', { instructions: 'Do something else.' }],
      ['with more constraints', { constraints: ['small'] }],
      ['with a list in another order', { links: ['b', 'a'] }],
    ])('rejects a different request with a known request id: one %s', async (_, change) => {
      const store = await openSite(await makeSite());
      const request = { request_id: 'r1', links: ['a', 'b'] };
      const { record } = await store.submitOrder(sampleSubmission(request));
      const other = store.submitOrder(sampleSubmission({ ...request, ...change }));
      expect(await catchCode(other)).toBe('REQUEST_ID_REUSED');
      await expect(other).rejects.toThrow(
        'The request_id "r1" belongs to order "2026-11-15-backend-0001" of issue "local#1"',
      );
      expect((await store.listOrders({})).items).toEqual([record]);
      expect(await store.findIssue('local#2')).toBeUndefined();
    });

    it('cancels the replaced run if that run is still queued', async () => {
      const store = await openSite(await makeSite());
      const { record: old } = await store.submitOrder(sampleSubmission());
      const { record: replacing } = await store.submitOrder(sampleSubmission());
      expect(await store.findRun(old.run)).toMatchObject({ state: 'ended', result: { status: 'canceled' } });
      expect(await store.findOrder('local#1', old.order.run_id)).toMatchObject({ state: 'canceled', decision: null });
      expect(await store.findIssue('local#1')).toMatchObject({ active_run_id: replacing.order.run_id });
    });

    it('requests cancellation of the run it replaces if that run is claimed', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission());
      const old = await store.claimRun(sampleClaim());
      expect(old?.record.cancel_requested).toBe(false);
      await store.submitOrder(sampleSubmission());
      expect(await store.findRun(old?.record.id ?? '')).toMatchObject({ state: 'running', cancel_requested: true });
      expect(await store.findOrder('local#1', '2026-11-15-backend-0001')).toMatchObject({ state: 'running' });
    });

    it('rejects an order that must not replace an undecided inbox item', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const item = sampleItem(record);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
      const rejected = store.submitOrder({ ...sampleSubmission(), keepsUndecided: true });
      expect(await catchCode(rejected)).toBe('ISSUE_UNDECIDED');
      expect((await store.listInbox({ open: true })).items).toMatchObject([{ id: item.id }]);
      expect((await store.listOrders({})).items).toHaveLength(1);
      await store.resolveItem(sampleResolution(item, record, 'reject'));
      expect(await store.submitOrder({ ...sampleSubmission(), keepsUndecided: true })).toMatchObject({
        repeated: false,
      });
    });

    it('resolves the inbox items of the run it replaces', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const item = sampleItem(record);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
      const { record: next } = await store.submitOrder({ ...sampleSubmission(), by: 'Ada' });
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'doing', active_run_id: next.order.run_id });
      expect((await store.listInbox({ open: true })).items).toEqual([]);
      expect((await store.findItem(item.id))?.resolution).toMatchObject({
        action: 'superseded',
        who: 'Ada',
        new_run_id: next.order.run_id,
      });
      expect(await store.resolveItem(sampleResolution(item, record, 'reject'))).toMatchObject({
        status: 'conflict',
        activeRunId: next.order.run_id,
      });
    });

    it('reopens an issue that was in review or blocked', async () => {
      const store = await openSite(await makeSite());
      for (const action of ['advance', 'blocked'] as const) {
        const { record } = await store.submitOrder(sampleSubmission());
        expect(await store.findIssue('local#1')).toMatchObject({ state: 'doing' });
        await store.settleOrder(sampleSettlement(record, action));
      }
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'blocked', last_run_number: 2 });
    });
  });

  describe('claiming orders', () => {
    it('claims the most urgent order first, then the oldest, each once', async () => {
      const store = await openSite(await makeSite());
      for (const [index, priority] of [0, 5, 0, 5].entries()) {
        await store.submitOrder(
          sampleSubmission({ issue_ref: `local#${index}`, repo_dir: `/repo/${index}`, priority }),
        );
      }
      const claimed: (string | undefined)[] = [];
      for (let turn = 0; turn < 5; turn++) claimed.push((await store.claimRun(sampleClaim()))?.record.order?.issue_ref);
      expect(claimed).toEqual(['local#1', 'local#3', 'local#0', 'local#2', undefined]);
    });

    it('records the owner and the end of the lease', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission());
      const claimed = await store.claimRun(sampleClaim('w7', { leaseMs: 3000, now: NOW + 5 }));
      expect(claimed?.record).toMatchObject({ state: 'running', owner: sampleWorker('w7'), lease_until: NOW + 3005 });
      expect(await store.findRun(claimed?.record.id ?? '')).toEqual(claimed?.record);
      expect(await store.findOrder('local#1', '2026-11-15-backend-0001')).toEqual(claimed?.order);
    });

    it('claims one order at a time in a repository', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#1' }));
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }));
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#3', repo_dir: '/repositories/two' }));
      const first = await store.claimRun(sampleClaim());
      const second = await store.claimRun(sampleClaim());
      expect([first, second].map((claimed) => claimed?.record.order?.issue_ref)).toEqual(['local#1', 'local#3']);
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
      if (first !== undefined) await settleClaimed(store, first);
      expect((await store.claimRun(sampleClaim()))?.record.order?.issue_ref).toBe('local#2');
    });

    it('allows orders with separate worktrees to share a repository, but not with an order without a worktree', async () => {
      const store = await openSite(await makeSite());
      const isolations = ['worktree', 'repository', 'worktree'] as const;
      for (const [index, isolation] of isolations.entries()) {
        await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}`, isolation }));
      }
      const claimed = [await store.claimRun(sampleClaim()), await store.claimRun(sampleClaim())];
      expect(claimed.map((each) => each?.record.order?.issue_ref)).toEqual(['local#0', 'local#2']);
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
      for (const each of claimed) if (each !== undefined) await settleClaimed(store, each);
      expect((await store.claimRun(sampleClaim()))?.record.order?.issue_ref).toBe('local#1');
      await store.submitOrder(sampleSubmission({ issue_ref: 'local#4', isolation: 'worktree' }));
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
    });

    it("enforces each wrapper type's limit across all workers", async () => {
      const store = await openSite(await makeSite());
      for (const [index, workerType] of ['a', 'a', 'a', 'b'].entries()) {
        const change = { issue_ref: `local#${index}`, repo_dir: `/repo/${index}` };
        await store.submitOrder(sampleSubmission(change, { workerType }));
      }
      const claims: (string | undefined)[] = [];
      for (const worker of ['w1', 'w2', 'w3', 'w4']) {
        const claimed = await store.claimRun(sampleClaim(worker, { concurrency: { a: 2 } }));
        claims.push(claimed?.record.order?.issue_ref);
      }
      expect(claims).toEqual(['local#0', 'local#1', 'local#3', undefined]);
      expect(await store.claimRun(sampleClaim('w5', { concurrency: { a: 0 } }))).toBeUndefined();
    });

    it('claims only the requested types', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission({}, { workerType: 'a' }));
      expect(await store.claimRun(sampleClaim('w1', { workerTypes: ['b', 'c'] }))).toBeUndefined();
      expect(await store.claimRun(sampleClaim('w1', { workerTypes: [] }))).toBeUndefined();
      expect(await store.claimRun(sampleClaim('w1', { workerTypes: ['b', 'a'] }))).toBeDefined();
    });

    it('reports the dependencies of an order that are neither in review nor done', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }));
      await store.settleOrder(sampleSettlement(record));
      const blocked = await store.submitOrder(sampleSubmission({ issue_ref: 'local#3' }));
      await store.settleOrder(sampleSettlement(blocked.record, 'blocked'));
      await store.submitOrder(sampleSubmission({ depends_on: ['local#9', 'local#2', 'local#3'] }));
      expect((await store.claimRun(sampleClaim()))?.unresolved).toEqual(['local#9', 'local#3']);
    });

    it('does not claim a canceled or settled order', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.settleOrder(sampleSettlement(record));
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
    });
  });
}

async function settleClaimed(store: Store, { order }: ClaimedRun): Promise<void> {
  if (order !== null) await store.settleOrder(sampleSettlement(order));
}
