import { describe, expect, it } from 'vitest';
import type { BudgetLimit } from '../sql/budgets.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim } from './fixtures/order-samples.js';
import { createRunResult, sampleSpec } from './fixtures/run-samples.js';

const DAY_MS = 86_400_000;
const TODAY = NOW - (NOW % DAY_MS);
const DAY: BudgetLimit = { scope: 'day', name: '', since: TODAY, tokens: 100, cost: null };
const NOTHING = { tokens: 0, cost: 0, heldTokens: 0, heldCost: 0 };

async function start(store: Store, id: string): Promise<void> {
  await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: id, leaseMs: 1000, now: NOW });
}

/** The contract of shared budgets. */
export function describeBudgets(makeSite: MakeSite): void {
  describe('a budget', () => {
    const reserve = async (store: Store, run: string, limits = [DAY], issueRef: string | null = null) =>
      store.reserveBudget({ run, issueRef, now: NOW, limits });

    it('is reserved in shares by running work, and consumed by its actual usage', async () => {
      const store = await openSite(await makeSite());
      for (const run of ['r1', 'r2']) {
        await start(store, run);
        expect(await reserve(store, run)).toBeUndefined();
      }
      expect(await store.measureBudgets([DAY])).toEqual([{ ...NOTHING, heldTokens: 10 }]);
      expect(await store.spendBudget({ run: 'r1', tokens: 60, cost: 0.5, limits: [DAY] })).toBeUndefined();
      expect(await store.measureBudgets([DAY])).toEqual([{ tokens: 60, cost: 0.5, heldTokens: 65, heldCost: 0.5 }]);
      // The other run's share is not available to this run.
      expect(await store.spendBudget({ run: 'r1', tokens: 96, cost: 0.5, limits: [DAY] })).toEqual(DAY);
      // A late report changes nothing.
      await store.spendBudget({ run: 'r1', tokens: 10, cost: 0, limits: [] });
      expect(await store.measureBudgets([DAY])).toMatchObject([{ tokens: 96 }]);
    });

    it('grants a run the remaining tokens if they are less than a share, and makes the next run wait', async () => {
      const store = await openSite(await makeSite());
      await start(store, 'r1');
      await reserve(store, 'r1');
      await store.spendBudget({ run: 'r1', tokens: 98, cost: 0, limits: [DAY] });
      await start(store, 'r2');
      expect(await reserve(store, 'r2')).toBeUndefined();
      expect(await store.measureBudgets([DAY])).toMatchObject([{ heldTokens: 100 }]);
      await store.createRun({ id: 'r3', spec: sampleSpec(), state: 'queued', now: NOW });
      expect(await reserve(store, 'r3')).toEqual(DAY);
      expect(await store.listBudgetUse(10, TODAY)).toMatchObject({ waiting: [{ run: 'r3', budget: 'day' }] });
    });

    it('is reported as the reason a queued run waits, with its reset time, unless the folder is in use', async () => {
      const store = await openSite(await makeSite());
      await start(store, 'r1');
      await reserve(store, 'r1');
      await store.spendBudget({ run: 'r1', tokens: 100, cost: 0, limits: [DAY] });
      await store.createRun({ id: 'r2', spec: sampleSpec({ workdir: '/other' }), state: 'queued', now: NOW });
      expect((await store.findRun('r2'))?.waiting_for).toBeNull();
      const claimed = await store.claimRun(sampleClaim('w2'));
      expect(claimed?.record).toMatchObject({ id: 'r2', waiting_for: null });
      await reserve(store, 'r2');
      const midnight = TODAY + DAY_MS;
      await store.releaseRun({ id: 'r2', workerId: 'w2', now: NOW, retryAt: NOW + 1000 });
      const waiting_for = { reason: 'budget', budget: 'day', opens_at: new Date(midnight).toISOString() };
      expect(await store.findRun('r2')).toMatchObject({ state: 'queued', waiting_for });
      expect(await store.countBudgetWaits()).toBe(1);
      expect(await store.countBudgetWaits('day')).toBe(1);
      expect(await store.countBudgetWaits('caller ci')).toBe(0);
      const { items } = await store.listRuns({ state: 'queued' });
      expect(items).toMatchObject([{ id: 'r2', waiting_for }]);
      // A run that retries at the end of the day reports the same time.
      await store.claimRun(sampleClaim('w2', { now: NOW + 1000 }));
      await store.releaseRun({ id: 'r2', workerId: 'w2', now: NOW + 1000, retryAt: midnight });
      expect(await store.findRun('r2')).toMatchObject({ waiting_for });
      const spec = sampleSpec({ workdir: '/other' });
      await store.createRun({ id: 'r3', spec, state: 'running', workerId: 'w3', leaseMs: 1000, now: NOW });
      expect((await store.findRun('r2'))?.waiting_for).toMatchObject({ reason: 'folder', run: 'r3' });
    });

    it('allows as many concurrent runs as it has shares', async () => {
      const store = await openSite(await makeSite());
      const runs = Array.from({ length: 30 }, (_, index) => `r${index}`);
      for (const run of runs) await start(store, run);
      const exhausted = await Promise.all(runs.map(async (run) => reserve(store, run)));
      expect(exhausted.filter((budget) => budget === undefined)).toHaveLength(20);
    });

    it('regains the unused share of a run, however that run ended', async () => {
      const store = await openSite(await makeSite());
      await start(store, 'r1');
      await reserve(store, 'r1');
      await store.endRun({ id: 'r1', workerId: 'r1', result: createRunResult(), now: NOW });
      expect(await store.measureBudgets([DAY])).toEqual([NOTHING]);
    });

    it('counts only the runs of its issue, caller or day', async () => {
      const store = await openSite(await makeSite());
      await store.recordRequest({ run: 'r1', caller: 'ci', issueRef: null, now: NOW - 5 });
      for (const run of ['r1', 'r2']) await start(store, run);
      await reserve(store, 'r1');
      await reserve(store, 'r2', [DAY], 'acme/shop#1');
      for (const run of ['r1', 'r2']) await store.spendBudget({ run, tokens: 7, cost: 0.25, limits: [] });
      const measured = await store.measureBudgets([
        { ...DAY, scope: 'caller', name: 'ci' },
        { ...DAY, scope: 'caller', name: 'other' },
        { ...DAY, scope: 'issue', name: 'acme/shop#1' },
        DAY,
        { ...DAY, since: TODAY + DAY_MS },
      ]);
      expect(measured.map(({ tokens }) => tokens)).toEqual([7, 0, 7, 14, 0]);
      expect(await store.findRequest('r1')).toEqual({ caller: 'ci', issueRef: null });
      expect(await store.findRequest('r9')).toBeUndefined();
      const use = { issues: ['acme/shop#1'], callers: ['ci'], waiting: [] };
      expect(await store.listBudgetUse(1, TODAY)).toEqual(use);
      expect(await store.listBudgetUse(1, TODAY + DAY_MS)).toEqual({ ...use, callers: [] });
    });

    it('counts the usage of a run for the day of its last start', async () => {
      const store = await openSite(await makeSite());
      const issueLimit: BudgetLimit = { ...DAY, scope: 'issue', name: 'acme/shop#1', since: 0 };
      const tomorrow: BudgetLimit = { ...DAY, since: TODAY + DAY_MS };
      await start(store, 'r1');
      await reserve(store, 'r1', [DAY], 'acme/shop#1');
      await store.spendBudget({ run: 'r1', tokens: 7, cost: 0.25, limits: [] });
      await store.reserveBudget({ run: 'r1', issueRef: null, now: NOW + DAY_MS, limits: [tomorrow] });
      await store.spendBudget({ run: 'r1', tokens: 9, cost: 0.5, limits: [] });
      await store.endRun({ id: 'r1', workerId: 'r1', result: createRunResult(), now: NOW });
      const used = { tokens: 9, cost: 0.5, heldTokens: 9, heldCost: 0.5 };
      expect(await store.measureBudgets([DAY, tomorrow, issueLimit])).toEqual([used, used, used]);
      // Only usage since the start of the day counts.
      const yesterday = { ...DAY, since: TODAY - DAY_MS };
      expect(await store.measureBudgets([yesterday])).toEqual([used]);
      await start(store, 'r2');
      await store.reserveBudget({ run: 'r2', issueRef: null, now: NOW, limits: [DAY] });
      await store.spendBudget({ run: 'r2', tokens: 1, cost: 0, limits: [] });
      expect((await store.measureBudgets([DAY, tomorrow])).map(({ tokens }) => tokens)).toEqual([10, 9]);
    });

    it('does not count usage from more than a year ago', async () => {
      const store = await openSite(await makeSite());
      const unlimitedPeriod: BudgetLimit = { ...DAY, scope: 'issue', name: 'acme/shop#1', since: 0 };
      await start(store, 'r1');
      await reserve(store, 'r1', [unlimitedPeriod], 'acme/shop#1');
      await store.spendBudget({ run: 'r1', tokens: 7, cost: 0.25, limits: [] });
      await store.endRun({ id: 'r1', workerId: 'r1', result: createRunResult(), now: NOW });
      await start(store, 'r2');
      for (const days of [366, 368]) {
        await store.reserveBudget({
          run: 'r2',
          issueRef: 'acme/shop#1',
          now: NOW + days * DAY_MS,
          limits: [unlimitedPeriod],
        });
        const [{ tokens } = NOTHING] = await store.measureBudgets([unlimitedPeriod]);
        expect(tokens).toBe(days === 366 ? 7 : 0);
      }
      expect(await store.findRequest('r1')).toBeUndefined();
    });

    it('deletes requests older than a year at the next request, even if no budget is reserved', async () => {
      const store = await openSite(await makeSite());
      await store.recordRequest({ run: 'r1', caller: 'ci', issueRef: null, now: NOW });
      await store.recordRequest({ run: 'r2', caller: 'ci', issueRef: null, now: NOW + 366 * DAY_MS });
      expect(await store.findRequest('r1')).toBeDefined();
      await store.recordRequest({ run: 'r3', caller: 'ci', issueRef: null, now: NOW + 367 * DAY_MS });
      expect(await store.findRequest('r1')).toBeUndefined();
      expect(await store.findRequest('r2')).toBeDefined();
    });

    it('can limit the cost', async () => {
      const store = await openSite(await makeSite());
      const limit: BudgetLimit = { ...DAY, tokens: null, cost: 2 };
      await start(store, 'r1');
      expect(await reserve(store, 'r1', [limit])).toBeUndefined();
      expect(await store.measureBudgets([limit])).toMatchObject([{ heldCost: 0.1 }]);
      expect(await store.spendBudget({ run: 'r1', tokens: 1_000_000, cost: 1.9, limits: [limit] })).toBeUndefined();
      expect(await store.spendBudget({ run: 'r1', tokens: 0, cost: 2.1, limits: [limit] })).toEqual(limit);
    });
  });
}
