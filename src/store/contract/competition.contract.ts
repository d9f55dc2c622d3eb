import { describe, expect, it } from 'vitest';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import {
  NOW,
  sampleClaim,
  sampleEntry,
  sampleRace,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import type { OrderRecord } from '../records/order-record.js';
import type { Store } from '../store.js';

/** The contract of races: multiple runs of one issue compete, and at most one result counts. */
export function describeCompetition(makeSite: MakeSite): void {
  describe('a race', () => {
    const start = async (runs = 3, change = {}) => {
      const store = await openSite(await makeSite());
      const submission = sampleRace(runs, change);
      const { record, rivals } = await store.submitOrder(submission);
      return { store, submission, all: [record, ...rivals] };
    };

    it('queues its runs under consecutive run ids, and its issue references the group instead of a run', async () => {
      const { store, all } = await start();
      expect(all.map(({ order }) => order.run_id)).toEqual([
        '2026-11-15-backend-0001',
        '2026-11-15-backend-0002',
        '2026-11-15-backend-0003',
      ]);
      expect(new Set(all.map(({ group }) => group))).toEqual(new Set(['2026-11-15-backend-0001']));
      expect(await store.findIssue('local#1')).toMatchObject({
        state: 'doing',
        active_run_id: null,
        active_group: '2026-11-15-backend-0001',
        last_run_number: 3,
      });
      const claims = await Promise.all([1, 2, 3, 4].map(async (id) => store.claimRun(sampleClaim(`w${id}`))));
      expect(claims.flatMap((claim) => claim?.order?.run ?? []).toSorted()).toEqual(
        all.map(({ run }) => run).toSorted(),
      );
    });

    it('returns the same orders for a repeated request', async () => {
      const { store, submission, all } = await start(3, { request_id: 'once' });
      const { record, rivals, repeated } = await store.submitOrder({ ...submission, run: 'another' });
      expect(repeated).toBe(true);
      expect([record, ...rivals]).toEqual(all);
    });

    it('stores results until the last run has entered, then decides all of them together', async () => {
      const { store, all } = await start();
      const [first, second, third] = all as [OrderRecord, OrderRecord, OrderRecord];
      expect(await store.settleOrder(sampleEntry(first, 'blocked'))).toMatchObject({
        repeated: false,
        waitsFor: [second.order.run_id, third.order.run_id],
      });
      expect(await store.settleOrder(sampleEntry(second))).toMatchObject({ waitsFor: [third.order.run_id] });
      expect(await store.findRun(second.run)).toMatchObject({ state: 'ended' });
      expect(await store.findOrder('local#1', second.order.run_id)).toMatchObject({ decision: null });
      expect((await store.listExecutions({})).items).toEqual([]);
      expect((await store.listOutbox({})).items).toEqual([]);

      const last = await store.settleOrder(sampleEntry(third));
      expect(last).toMatchObject({ decision: { action: 'archive' }, repeated: false });
      expect(last.waitsFor).toBeUndefined();
      expect(await readActions(store, all)).toEqual(['archive', 'advance', 'archive']);
      const issue = await store.findIssue('local#1');
      expect(issue).toMatchObject({ state: 'review', active_run_id: second.order.run_id });
      expect(issue?.active_group).toBeUndefined();
      expect((await store.listExecutions({})).items).toHaveLength(3);
      expect((await store.listOutbox({})).items).toHaveLength(1);
    });

    it('counts a result once, however often it is entered', async () => {
      const { store, all } = await start(2);
      const [first, second] = all as [OrderRecord, OrderRecord];
      await store.settleOrder(sampleEntry(first));
      const entered = await store.findIssue(first.order.issue_ref);
      expect(await store.settleOrder(sampleEntry(first, 'blocked', {}, NOW + 1000))).toMatchObject({
        decision: { action: 'advance' },
        repeated: true,
        waitsFor: [second.order.run_id],
      });
      expect(await store.findIssue(first.order.issue_ref)).toEqual(entered);
      await store.settleOrder(sampleEntry(second));
      for (const order of all) expect(await store.settleOrder(sampleEntry(order))).toMatchObject({ repeated: true });
      expect((await store.listExecutions({})).items).toHaveLength(2);
    });

    it('has at most one winner when all runs enter concurrently', async () => {
      const { store, all } = await start(4);
      await Promise.all([...all, ...all].map(async (order) => store.settleOrder(sampleEntry(order))));
      expect((await readActions(store, all)).map(String).toSorted()).toEqual([
        'advance',
        'archive',
        'archive',
        'archive',
      ]);
      expect((await store.listExecutions({})).items).toHaveLength(4);
    });

    it('archives earlier and later entries when another order replaces it', async () => {
      const { store, all } = await start(3);
      const [first, second, third] = all as [OrderRecord, OrderRecord, OrderRecord];
      await store.settleOrder(sampleEntry(first));
      const claimed = await store.claimRun(sampleClaim());
      expect(claimed?.record.id).toBe(second.run);
      const { record: next } = await store.submitOrder(sampleSubmission());
      expect(await store.settleOrder(sampleEntry(second))).toMatchObject({ decision: { action: 'archive' } });
      expect(await readActions(store, all)).toEqual(['archive', 'archive', undefined]);
      expect(await store.findOrder('local#1', third.order.run_id)).toMatchObject({ state: 'canceled' });
      const issue = await store.findIssue('local#1');
      expect(issue).toMatchObject({ state: 'doing', active_run_id: next.order.run_id });
      expect(issue?.active_group).toBeUndefined();
      expect((await store.listExecutions({})).items).toHaveLength(2);
      await store.settleOrder(sampleSettlement(next));
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'review' });
    });

    it('needs a human decision about each result if it has no winner; accepting one closes the others', async () => {
      const { store, all } = await start(3);
      for (const order of all) await store.settleOrder(sampleEntry(order, 'blocked'));
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'needs-human', active_run_id: null });
      const { items } = await store.listInbox({ open: true });
      expect(items.map(({ run_id }) => run_id)).toEqual(all.map(({ order }) => order.run_id));

      const [one, two, three] = items as [(typeof items)[0], (typeof items)[0], (typeof items)[0]];
      const [first, second, third] = all as [OrderRecord, OrderRecord, OrderRecord];
      await store.resolveItem(sampleResolution(one, first, 'reject'));
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'needs-human' });
      expect(await store.resolveItem(sampleResolution(two, second, 'accept'))).toMatchObject({ status: 'resolved' });
      const issue = await store.findIssue('local#1');
      expect(issue).toMatchObject({ state: 'review', active_run_id: second.order.run_id });
      expect(issue?.active_group).toBeUndefined();
      expect(await store.findItem(three.id)).toMatchObject({
        resolution: { action: 'superseded', new_run_id: second.order.run_id },
      });
      const conflict = await store.resolveItem(sampleResolution(three, third, 'accept'));
      expect(conflict).toMatchObject({ status: 'conflict', activeRunId: second.order.run_id });
    });

    it('ends when a user retries one of its results', async () => {
      const { store, all } = await start(2);
      for (const order of all) await store.settleOrder(sampleEntry(order, 'needs-human'));
      const [item] = (await store.listInbox({ open: true })).items;
      const [, second] = all as [OrderRecord, OrderRecord];
      if (item === undefined) throw new Error('no item');
      const outcome = await store.resolveItem(sampleResolution(item, second, 'retry', { now: NOW + 1 }));
      expect(outcome).toMatchObject({ status: 'resolved', order: { order: { run_id: '2026-11-15-backend-0003' } } });
      const issue = await store.findIssue('local#1');
      expect(issue).toMatchObject({ state: 'doing', active_run_id: '2026-11-15-backend-0003' });
      expect(issue?.active_group).toBeUndefined();
      expect((await store.listInbox({ open: true })).items).toEqual([]);
    });
  });
}

async function readActions(store: Store, orders: readonly OrderRecord[]): Promise<(string | undefined)[]> {
  const records = orders.map(async ({ order }) => store.findOrder(order.issue_ref, order.run_id));
  return (await Promise.all(records)).map((record) => record?.decision?.action);
}
