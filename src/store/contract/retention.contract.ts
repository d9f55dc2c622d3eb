import { describe, expect, it } from 'vitest';
import { sumInboxCounts } from '../inbox-roll-up.js';
import { sumCounts } from '../roll-up.js';
import type { Store } from '../store.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleItem,
  sampleMessage,
  NOW,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import { readAllPages } from './fixtures/read-all-pages.js';
import { sampleFcmp, sampleRasp, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const CLAIM = { workerId: 'w1', leaseMs: 1000, now: NOW };
const STEP = { endedBefore: NOW + 99, runs: 10, rows: 100, now: NOW + 200 };

/** Adds a run that ends this many milliseconds after the start of the test, with five events of each protocol. */
async function endRun(store: Store, id: string, ms: number) {
  const running = { state: 'running', workerId: 'w1', leaseMs: 1000, now: NOW } as const;
  await store.createRun({ id, spec: sampleSpec(), ...running });
  for (const seq of [1, 2, 3, 4, 5]) await store.append(id, [sampleFcmp(seq), sampleRasp(1, seq)]);
  await store.endRun({ id, workerId: 'w1', result: createRunResult(), now: NOW + ms });
}

async function countEvents(store: Store, runId: string): Promise<number> {
  const fcmp = await store.read({ runId, protocol: 'fcmp', limit: 100 });
  return fcmp.length + (await store.read({ runId, protocol: 'rasp', limit: 100 })).length;
}

/** Settles an order with a decision that needs a human. */
async function settleAsNeedsHuman(store: Store, issue: string, id: string) {
  const { record } = await store.submitOrder({ ...sampleSubmission({ issue_ref: issue }), run: id });
  const item = sampleItem(record, { id: `item ${id}` });
  await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
  return { record, item };
}

/** Counts everything in its slots. */
async function countAll(store: Store): Promise<void> {
  while ((await store.countEndedRuns(10)) > 0);
  while ((await store.countInboxItems(10)) > 0);
}

/** The contract of deleting old data. */
export function describeRetention(makeSite: MakeSite): void {
  describe('the events of ended runs', () => {
    it('are deleted in steps, oldest first, but the records are kept', async () => {
      const store = await openSite(await makeSite());
      await endRun(store, 'b', 20);
      await endRun(store, 'a', 10);
      await endRun(store, 'young', 99);
      const step = { ...STEP, rows: 8 };
      expect(await store.purgeRuns(step)).toEqual({ ids: [], isDone: false });
      expect([await countEvents(store, 'a'), await countEvents(store, 'b')]).toEqual([2, 10]);
      expect(await store.findRunsWithoutEvents(['a'])).toEqual([]);
      expect(await store.purgeRuns(step)).toEqual({ ids: ['a'], isDone: false });
      expect([await countEvents(store, 'a'), await countEvents(store, 'b')]).toEqual([0, 4]);
      expect(await store.purgeRuns(step)).toEqual({ ids: ['b'], isDone: true });
      expect(await store.purgeRuns(step)).toEqual({ ids: [], isDone: true });
      expect(await countEvents(store, 'young')).toBe(10);
      expect(await store.findRun('a')).toMatchObject({ state: 'ended', result: createRunResult() });
      expect(await store.findRunsWithoutEvents(['a', 'young', 'gone', `'"\\u0000`])).toEqual(['a']);
    });

    it('of multiple runs are deleted in one step', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['a', 'b', 'c']) await endRun(store, id, 10);
      const first = await store.purgeRuns({ ...STEP, runs: 2 });
      expect([first.ids.length, first.isDone]).toEqual([2, false]);
      const second = await store.purgeRuns({ ...STEP, runs: 2 });
      expect([...first.ids, ...second.ids].toSorted()).toEqual(['a', 'b', 'c']);
      expect(second.isDone).toBe(true);
    });

    it('are deleted and counted once, even by concurrent processes', async () => {
      const site = await makeSite();
      const [store, other] = site === 'memory:' ? [await openSite(site)] : [await openSite(site), await openSite(site)];
      if (store === undefined) return;
      const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
      for (const id of ids) await endRun(store, id, 10);
      const purgeAll = async (from: Store): Promise<string[]> => {
        const { ids: purgedIds } = await from.purgeRuns({ ...STEP, runs: 3 });
        return purgedIds.length === 0 ? [] : [...purgedIds, ...(await purgeAll(from))];
      };
      const purged = await Promise.all([store, other ?? store, store, other ?? store].map(purgeAll));
      const remaining = await purgeAll(store);
      expect([...purged.flat(), ...remaining].toSorted()).toEqual(ids.toSorted());
    });

    it('are kept until the run has ended, its order is settled and its inbox items are resolved', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'running', spec: sampleSpec(), state: 'running', now: NOW });
      await store.append('running', [sampleFcmp(1)]);
      const { record, item } = await settleAsNeedsHuman(store, 'local#1', 'asked');
      await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#2' }), run: 'queued' });
      expect(await store.purgeRuns(STEP)).toEqual({ ids: [], isDone: true });
      expect(await countEvents(store, 'running')).toBe(1);
      await store.resolveItem(sampleResolution(item, record, 'accept'));
      expect(await store.purgeRuns(STEP)).toEqual({ ids: ['asked'], isDone: true });
    });

    it('leave a list of purged runs, in the order they were purged', async () => {
      const store = await openSite(await makeSite());
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        await endRun(store, id, 10);
        await store.purgeRuns({ ...STEP, now: NOW + 100 - index });
      }
      const page = { since: NOW + 98, limit: 2 };
      const first = await store.listPurgedRuns(page);
      expect(first.items).toEqual(['c', 'b']);
      const second = await store.listPurgedRuns({ ...page, cursor: first.next_cursor ?? '' });
      expect(second).toEqual({ items: ['a'], next_cursor: null });
      expect((await store.listPurgedRuns({ since: NOW + 100 })).items).toEqual(['a']);
      expect(await catchCode(store.listPurgedRuns({ since: 0, cursor: 'x' }))).toBe('INVALID_CURSOR');
    });
  });

  describe('records', () => {
    const ALL = { endedBefore: NOW + 99, purgedBefore: NOW + 1000, limit: 10 };

    it('are deleted with everything that belongs to them, except statistics, once their events are gone', async () => {
      const store = await openSite(await makeSite());
      await endRun(store, 'plain', 10);
      const { record, item } = await settleAsNeedsHuman(store, 'local#1', 'asked');
      await store.resolveItem(sampleResolution(item, record, 'accept'));
      await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#1' }), run: 'next' });
      expect(await store.purgeRecords(ALL)).toEqual({ deleted: 0, next_cursor: null });
      await store.purgeRuns(STEP);
      await countAll(store);
      expect(await store.purgeRecords({ ...ALL, purgedBefore: NOW + 200 })).toMatchObject({ deleted: 0 });
      expect(await store.purgeRecords({ ...ALL, endedBefore: NOW })).toMatchObject({ deleted: 0 });
      expect(await store.purgeRecords(ALL)).toEqual({ deleted: 2, next_cursor: null });
      expect(await store.findRun('plain')).toBeUndefined();
      expect(await store.findRun('asked')).toBeUndefined();
      expect(await store.findOrder('local#1', record.order.run_id)).toBeUndefined();
      expect((await store.listInbox({ issueRef: 'local#1' })).items).toEqual([]);
      expect((await store.listExecutions({ issueRef: 'local#1' })).items).toEqual([]);
      expect((await store.listPurgedRuns({ since: 0 })).items).toEqual([]);
      expect((await store.listOrders({ issueRef: 'local#1' })).items).toMatchObject([{ run: 'next' }]);
      const resubmitted = await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#1' }), run: 'more' });
      expect(resubmitted.record.order.run_id).toMatch(/3$/);
    });

    it("of an issue's active order are kept", async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#1' }), run: 'active' });
      await store.settleOrder(sampleSettlement(record));
      await endRun(store, 'plain', 10);
      await store.purgeRuns(STEP);
      await countAll(store);
      expect(await store.purgeRecords(ALL)).toEqual({ deleted: 1, next_cursor: null });
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({ state: 'settled' });
      const slots = await store.listRunSlots({ since: 0, until: NOW * 2, stepMs: 86_400_000 });
      expect(sumCounts(slots.map(({ counts }) => counts)).outcomes.success).toBeGreaterThanOrEqual(1);
    });

    it('leave lists complete: rows added later are neither skipped nor repeated', async () => {
      const store = await openSite(await makeSite());
      const { record, item } = await settleAsNeedsHuman(store, 'local#1', 'asked');
      await store.resolveItem(sampleResolution(item, record, 'accept'));
      for (const run of ['b', 'c']) {
        await store.submitOrder({ ...sampleSubmission({ issue_ref: `local#${run}` }), run });
      }
      await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#1' }), run: 'next' });
      await store.purgeRuns(STEP);
      await countAll(store);
      expect(await store.purgeRecords(ALL)).toMatchObject({ deleted: 1 });
      await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#last' }), run: 'last' });
      const runs = await readAllPages(async (page) => store.listRuns({ limit: 1, ...page }));
      expect(runs.flat().map(({ id }) => id)).toEqual(['last', 'next', 'c', 'b']);
      const orders = await readAllPages(async (page) => store.listOrders({ limit: 1, ...page }));
      expect(orders.flat().map(({ run }) => run)).toEqual(['last', 'next', 'c', 'b']);
    });

    it('are examined in bounded steps', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['a', 'b', 'c']) await endRun(store, id, 10);
      await store.purgeRuns(STEP);
      await countAll(store);
      const first = await store.purgeRecords({ ...ALL, limit: 2 });
      expect(first).toEqual({ deleted: 2, next_cursor: expect.any(String) as string });
      const next = { ...ALL, limit: 2, cursor: first.next_cursor ?? undefined };
      expect(await store.purgeRecords(next)).toEqual({ deleted: 1, next_cursor: null });
    });
  });

  describe('old data', () => {
    it('is deleted from the outbox once delivered, oldest first; other messages are kept', async () => {
      const store = await openSite(await makeSite());
      for (const [index, sink] of ['a', 'b', 'c', 'd'].entries()) {
        const { record } = await store.submitOrder(
          sampleSubmission({ issue_ref: `local#${index}` }, { now: NOW + index }),
        );
        const settlement = sampleSettlement(record, 'advance', { outbox: [sampleMessage(record, { sink })] });
        await store.settleOrder({ ...settlement, now: NOW + index });
      }
      const delivery = { workerId: 'w1', deliveredTo: 'there', now: NOW + 9 };
      for (const { id } of await store.claimOutbox({ ...CLAIM, now: NOW + 9, limit: 3 })) {
        await store.markDelivered({ id, ...delivery });
      }
      expect(await store.purgeDelivered({ before: NOW, limit: 10 })).toBe(0);
      expect(await store.purgeDelivered({ before: NOW + 1, limit: 10 })).toBe(1);
      expect((await store.listOutbox({})).items.map(({ sink }) => sink)).toEqual(['d', 'c', 'b']);
      expect(await store.purgeDelivered({ before: NOW + 99, limit: 1 })).toBe(1);
      expect((await store.listOutbox({})).items.map(({ sink }) => sink)).toEqual(['d', 'c']);
      expect(await store.purgeDelivered({ before: NOW + 99, limit: 10 })).toBe(1);
      expect((await store.listOutbox({})).items).toMatchObject([{ sink: 'd', state: 'waiting' }]);
    });

    it('is deleted from the result cache by age, oldest first', async () => {
      const store = await openSite(await makeSite());
      const keep = async (key: string, cached_at: string) =>
        store.cacheResult(key, { run_id: 'r', result: createRunResult(), cached_at });
      await keep('oldest', '2026-11-01T00:00:00.000Z');
      await keep('old', '2026-11-02T00:00:00.000Z');
      await keep('young', '2026-11-14T00:00:00.000Z');
      const before = Date.parse('2026-11-10');
      expect(await store.purgeResults({ before, limit: 1 })).toBe(1);
      expect(await store.find('oldest')).toBeUndefined();
      expect(await store.find('old')).toBeDefined();
      expect(await store.purgeResults({ before, limit: 10 })).toBe(1);
      expect(await store.find('old')).toBeUndefined();
      expect(await store.find('young')).toBeDefined();
    });
  });
}

/** The contract of deleting records in a store that counts in slots. */
export function describeRetentionCounts(makeSite: MakeSite): void {
  it('keeps the record of a run until the run is counted', async () => {
    const store = await openSite(await makeSite());
    await endRun(store, 'plain', 10);
    await store.purgeRuns(STEP);
    const records = { endedBefore: NOW + 99, purgedBefore: NOW + 1000, limit: 10 };
    expect(await store.purgeRecords(records)).toMatchObject({ deleted: 0 });
    expect(await store.findRun('plain')).toBeDefined();
    await countAll(store);
    expect(await store.purgeRecords(records)).toMatchObject({ deleted: 1 });
  });

  it('keeps records until their inbox items are counted, and the inbox history after they are deleted', async () => {
    const store = await openSite(await makeSite());
    const { record, item } = await settleAsNeedsHuman(store, 'local#1', 'asked');
    await store.resolveItem(sampleResolution(item, record, 'accept'));
    await store.submitOrder({ ...sampleSubmission({ issue_ref: 'local#1' }), run: 'next' });
    await store.purgeRuns(STEP);
    while ((await store.countEndedRuns(10)) > 0);
    const records = { endedBefore: NOW + 99, purgedBefore: NOW + 1000, limit: 10 };
    expect(await store.purgeRecords(records)).toMatchObject({ deleted: 0 });
    await countAll(store);
    const readTotals = async () => {
      const { slots, ...now } = await store.readInboxHistory({ since: 0, until: NOW * 2, stepMs: 86_400_000 });
      return { ...sumInboxCounts(slots.map(({ counts }) => counts)), ...now };
    };
    const before = await readTotals();
    expect(before).toMatchObject({ opened: [{ items: 1 }], resolved: 1, open: 0 });
    expect(await store.purgeRecords(records)).toMatchObject({ deleted: 1 });
    expect((await store.listInbox({ issueRef: 'local#1' })).items).toEqual([]);
    expect(await readTotals()).toEqual(before);
  });
}
