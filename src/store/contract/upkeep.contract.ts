import { describe, expect, it } from 'vitest';
import type { Store } from '../store.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleClaim,
  sampleHold,
  sampleItem,
  sampleMessage,
  NOW,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import { sampleFcmp, sampleRasp, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const CLAIM = { workerId: 'w1', leaseMs: 1000, now: NOW };

/** Adds a run that ends so many milliseconds after the beginning, with five events of each protocol. */
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

/** How a store counts unfinished work and deletes old data. */
export function describeUpkeep(makeSite: MakeSite): void {
  describe('measure', () => {
    it('counts unfinished work', async () => {
      const store = await openSite(await makeSite());
      expect(await store.measure()).toEqual({
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
      await store.claimRun(sampleClaim('w1', { takes: ['runs'] }));
      await endRun(store, 'r3', 0);
      expect(await store.measure()).toEqual({
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
      await store.markWaiting({ id: 'r1', workerId: 'w1', now: NOW });
      expect(second?.state).toBe('sending');
      expect(await store.measure()).toEqual({
        runs: { queued: 0, running: 1, waiting: 1 },
        orders: { queued: 0, running: 1 },
        inbox: 0,
        outbox: { open: 2, dead: 1, oldest: NOW },
      });
    });
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

    it('lose their events in steps and keep their record', async () => {
      const store = await openSite(await makeSite());
      await endRun(store, 'a', 10);
      await endRun(store, 'b', 20);
      expect(await store.listForgettableRuns({ endedBefore: NOW + 20, limit: 10 })).toEqual(['a']);
      expect(await store.listForgettableRuns({ endedBefore: NOW + 99, limit: 1 })).toEqual(['a']);
      const step = { id: 'a', limit: 4, now: NOW + 50 };
      expect(await store.forgetEvents(step)).toBe(false);
      expect(await countEvents(store, 'a')).toBe(6);
      expect(await store.findForgottenRuns(['a'])).toEqual([]);
      expect(await store.forgetEvents(step)).toBe(false);
      expect(await store.forgetEvents(step)).toBe(true);
      expect([await countEvents(store, 'a'), await countEvents(store, 'b')]).toEqual([0, 10]);
      expect(await store.findRun('a')).toMatchObject({ state: 'ended', result: createRunResult() });
      expect(await store.findForgottenRuns(['a', 'b', 'gone', `'"\\u0000`])).toEqual(['a']);
      expect(await store.listForgettableRuns({ endedBefore: NOW + 99, limit: 10 })).toEqual(['b']);
    });

    it('are settled when they have ended before a moment and their order is decided', async () => {
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

    it('lose nothing while they run', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'a', spec: sampleSpec(), state: 'running', now: NOW });
      await store.append('a', [sampleFcmp(1)]);
      expect(await store.listForgettableRuns({ endedBefore: NOW + 99, limit: 10 })).toEqual([]);
      await store.forgetEvents({ id: 'a', limit: 10, now: NOW });
      expect(await countEvents(store, 'a')).toBe(1);
    });

    it('keep their events while their order is not settled or has an open inbox item', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const forgettable = async () => store.listForgettableRuns({ endedBefore: NOW + 99, limit: 10 });
      expect(await forgettable()).toEqual([]);
      const item = sampleItem(record);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
      expect(await forgettable()).toEqual([]);
      await store.resolveItem(sampleResolution(item, record, 'accept'));
      expect(await forgettable()).toEqual([record.run]);
    });
  });

  describe('old data', () => {
    it('is deleted from the outbox once delivered, oldest first; other messages stay', async () => {
      const store = await openSite(await makeSite());
      for (const [index, sink] of ['a', 'b', 'c', 'd'].entries()) {
        const { record } = await store.submitOrder(
          sampleSubmission({ issue_ref: `local#${index}` }, { now: NOW + index }),
        );
        const settlement = sampleSettlement(record, 'advance', { outbox: [sampleMessage(record, { sink })] });
        await store.settleOrder({ ...settlement, now: NOW + index });
      }
      const done = { workerId: 'w1', deliveredTo: 'there', now: NOW + 9 };
      for (const { id } of await store.claimOutbox({ ...CLAIM, now: NOW + 9, limit: 3 })) {
        await store.markDelivered({ id, ...done });
      }
      expect(await store.forgetDelivered({ before: NOW, limit: 10 })).toBe(0);
      expect(await store.forgetDelivered({ before: NOW + 1, limit: 10 })).toBe(1);
      expect((await store.listOutbox({})).items.map(({ sink }) => sink)).toEqual(['d', 'c', 'b']);
      expect(await store.forgetDelivered({ before: NOW + 99, limit: 1 })).toBe(1);
      expect((await store.listOutbox({})).items.map(({ sink }) => sink)).toEqual(['d', 'c']);
      expect(await store.forgetDelivered({ before: NOW + 99, limit: 10 })).toBe(1);
      expect((await store.listOutbox({})).items).toMatchObject([{ sink: 'd', state: 'waiting' }]);
    });

    it('is deleted from the result cache by age, oldest first', async () => {
      const store = await openSite(await makeSite());
      const keep = async (key: string, kept_at: string) =>
        store.keep(key, { run_id: 'r', result: createRunResult(), kept_at });
      await keep('oldest', '2026-11-01T00:00:00.000Z');
      await keep('old', '2026-11-02T00:00:00.000Z');
      await keep('young', '2026-11-14T00:00:00.000Z');
      const before = Date.parse('2026-11-10');
      expect(await store.forgetResults({ before, limit: 1 })).toBe(1);
      expect(await store.find('oldest')).toBeUndefined();
      expect(await store.find('old')).toBeDefined();
      expect(await store.forgetResults({ before, limit: 10 })).toBe(1);
      expect(await store.find('old')).toBeUndefined();
      expect(await store.find('young')).toBeDefined();
    });
  });
}
