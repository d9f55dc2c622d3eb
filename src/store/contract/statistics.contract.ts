import { describe, expect, it } from 'vitest';
import type { InboxItem, OrderRecord } from '../records/order-record.js';
import type { RunResult } from '../records/run-result.js';
import { sumInboxCounts } from '../inbox-roll-up.js';
import { sumCounts, type RunCounts, type StatisticsPeriod } from '../roll-up.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleItem, NOW, sampleResolution, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Some days around {@link NOW}, ending in the middle of a minute. */
const ALL = { since: Math.floor(NOW / DAY_MS) * DAY_MS - DAY_MS, until: NOW + 40_001, stepMs: HOUR_MS };

async function endRun(store: Store, id: string, ms: number, result: Partial<RunResult> = {}): Promise<void> {
  await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW });
  await store.endRun({ id, workerId: 'w1', result: createRunResult(result), now: NOW + ms });
}

/** Adds an inbox item for a new issue. */
async function addItem(store: Store, issue: string, change: Parameters<typeof sampleItem>[1] = {}) {
  const { record } = await store.submitOrder(sampleSubmission({ issue_ref: issue }));
  const item = sampleItem(record, change);
  await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
  return { record, item };
}

const formatAt = (ms: number): string => new Date(NOW + ms).toISOString();

async function resolve(store: Store, item: InboxItem, record: OrderRecord, ms: number): Promise<void> {
  const resolution = sampleResolution(item, record, 'accept');
  await store.resolveItem({ ...resolution, resolution: { ...resolution.resolution, at: formatAt(ms) } });
}

/** Returns the counts of a period by engine, summed up as for a chart. */
async function countRuns(store: Store, period: StatisticsPeriod = ALL): Promise<Record<string, RunCounts>> {
  const slots = await store.listRunSlots(period);
  const engines = [...new Set(slots.map(({ engine }) => engine))];
  const sum = (wanted: string) =>
    sumCounts(slots.filter(({ engine }) => engine === wanted).map(({ counts }) => counts));
  return Object.fromEntries(engines.map((engine) => [engine, sum(engine)]));
}

/** The contract of statistics. */
export function describeStatistics(makeSite: MakeSite): void {
  describe.each([
    ['before they are added to slots', async () => undefined],
    ['after they were added to slots', async (store: Store) => store.countEndedRuns(100)],
  ])('run counts, %s:', (_, prepare) => {
    it('show how the runs of a period ended', async () => {
      const store = await openSite(await makeSite());
      const process = { exit_code: 0, signal: null, command: ['codex'], version: '0.166.0' };
      await endRun(store, 'r1', 10, { process, drift: { unknown_types: 2, unknown_fields: 1 } });
      await endRun(store, 'r2', 30, { status: 'failed' });
      await endRun(store, 'r3', 20, { repair_level: 'deterministic_generic' });
      await store.createRun({ id: 'r4', spec: sampleSpec(), state: 'queued', now: NOW });
      await prepare(store);
      const all: RunCounts = {
        outcomes: { success: 2, failed: 1, canceled: 0, comment: 0 },
        repair_levels: { none: 2, deterministic_generic: 1, schema_aligned: 0 },
        durations: [
          [10, 1],
          [20, 1],
          [30, 1],
        ],
        usage: [],
        drift: [{ engine_version: '0.166.0', runs: 1, unknown_types: 2, unknown_fields: 1 }],
      };
      expect(await countRuns(store)).toEqual({ command: all });
      expect(await countRuns(store, { ...ALL, stepMs: DAY_MS })).toEqual({ command: all });
      const part = await countRuns(store, { since: ALL.since, until: NOW + 30, stepMs: HOUR_MS });
      expect(part['command']?.outcomes).toEqual({ success: 2, failed: 0, canceled: 0, comment: 0 });
    });

    it('include the tokens, cost and model of runs, but not of cached results', async () => {
      const store = await openSite(await makeSite());
      const usage = {
        scope: 'total',
        input_tokens: 1200,
        cached_input_tokens: 200,
        output_tokens: 40,
        cost: 0.25,
      } as const;
      await endRun(store, 'r1', 1, { usage, model: 'opus' });
      await endRun(store, 'r2', 2, {
        usage: { scope: 'total', input_tokens: 1, output_tokens: 2, model: UNTRUSTED_TEXT.repeat(20) },
      });
      await endRun(store, 'r3', 3, { usage, cached_from: 'r1' });
      await endRun(store, 'r4', 4, { usage, model: 'opus' });
      await prepare(store);
      const { scope: _scope, ...used } = usage;
      const found = (await countRuns(store))['command']?.usage ?? [];
      const [opus, overlong] = found.toSorted((one, other) => other.runs - one.runs);
      expect(found).toHaveLength(2);
      expect(opus).toEqual({
        ...used,
        model: 'opus',
        runs: 2,
        input_tokens: 2400,
        cached_input_tokens: 400,
        output_tokens: 80,
        cost: 0.5,
        unpriced_input_tokens: 0,
        unpriced_cached_input_tokens: 0,
        unpriced_output_tokens: 0,
      });
      expect(overlong).toMatchObject({ runs: 1, input_tokens: 1, cached_input_tokens: 0, output_tokens: 2, cost: 0 });
      expect(overlong).toMatchObject({ unpriced_input_tokens: 1, unpriced_output_tokens: 2 });
      expect(overlong?.model).toHaveLength(100);
    });

    it('include a run that was canceled before it started, and no run twice', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      await store.requestCancel('r1', NOW + 5);
      await store.requestCancel('r1', NOW + 9);
      await prepare(store);
      await endRun(store, 'r2', 1);
      await store.requestCancel('r2', NOW + 9);
      await prepare(store);
      await prepare(store);
      expect((await countRuns(store))['command']).toMatchObject({
        outcomes: { success: 1, failed: 0, canceled: 1, comment: 0 },
        durations: [[1, 1]],
      });
    });

    it("shorten a program's version, and omit the drift of cached results", async () => {
      const store = await openSite(await makeSite());
      const process = { exit_code: 0, signal: null, command: ['x'], version: UNTRUSTED_TEXT.repeat(20) };
      const drift = { unknown_types: 1, unknown_fields: 1 };
      await endRun(store, 'r1', 1, { process });
      await endRun(store, 'r2', 2, { process, drift, cached_from: 'r1' });
      await prepare(store);
      const [version, ...others] = (await countRuns(store))['command']?.drift ?? [];
      expect(version).toMatchObject({ runs: 1, unknown_types: 0, unknown_fields: 0 });
      expect(version?.engine_version).toHaveLength(100);
      expect(others).toEqual([]);
    });

    it('include runs of orders', async () => {
      const store = await openSite(await makeSite());
      await addItem(store, 'local#1');
      await prepare(store);
      const counts = Object.values(await countRuns(store, { ...ALL, until: NOW * 2 }));
      expect(sumCounts(counts).outcomes).toMatchObject({ success: 1 });
    });
  });

  describe('counting', () => {
    it('adds runs to their slots in steps, even in concurrent processes', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < 20; index += 1) await endRun(store, `r${index}`, index * 7_000_000);
      await Promise.all(Array.from({ length: 6 }, async () => store.countEndedRuns(3)));
      const counts = async (stepMs: number) => {
        const { outcomes } =
          (await countRuns(store, { since: ALL.since, until: NOW + 200_000_000, stepMs }))['command'] ?? {};
        return outcomes?.success;
      };
      expect([await counts(60_000), await counts(HOUR_MS), await counts(DAY_MS)]).toEqual([20, 20, 20]);
      await store.countEndedRuns(100);
      expect(await store.countEndedRuns(100)).toBe(0);
      expect([await counts(60_000), await counts(HOUR_MS), await counts(DAY_MS)]).toEqual([20, 20, 20]);
    });
  });

  describe.each([
    ['before its items are added to slots', async () => undefined],
    ['after its items were added to slots', async (store: Store) => store.countInboxItems(100)],
  ])('the inbox history, %s:', (_, prepare) => {
    it('counts opened items by cause, resolved items and open items', async () => {
      const store = await openSite(await makeSite());
      const { item, record } = await addItem(store, 'local#1', { created_at: formatAt(0) });
      await addItem(store, 'local#2', {
        created_at: formatAt(10),
        result_code: 'env_unavailable',
        reading: { source: 'none', problems: [] },
      });
      await prepare(store);
      await resolve(store, item, record, 5);
      await prepare(store);
      const { slots, open, oldest } = await store.readInboxHistory(ALL);
      expect({ open, oldest }).toEqual({ open: 1, oldest: NOW + 10 });
      const { opened, ...resolved } = sumInboxCounts(slots.map(({ counts }) => counts));
      expect(opened).toHaveLength(2);
      expect(opened).toEqual(
        expect.arrayContaining([
          { cause: 'MISSING', items: 1 },
          { cause: 'env_unavailable', items: 1 },
        ]),
      );
      expect(resolved).toEqual({ resolved: 1, oldest_resolved: NOW });
    });

    it('includes items after the requested period, but none before it', async () => {
      const store = await openSite(await makeSite());
      const minute = Math.floor(NOW / 60_000) * 60_000;
      for (const [index, ms] of [0, 59_999, 60_000, HOUR_MS, DAY_MS, 40 * DAY_MS].entries()) {
        const createdAt = new Date(minute + ms).toISOString();
        const { item, record } = await addItem(store, `local#${index}`, { created_at: createdAt });
        await resolve(store, item, record, minute - NOW + ms + 1);
      }
      await prepare(store);
      const count = async (since: number, until: number) => {
        const { slots, open } = await store.readInboxHistory({
          since: minute + since,
          until: minute + until,
          stepMs: 60_000,
        });
        expect(open).toBe(0);
        const { opened, resolved } = sumInboxCounts(slots.map(({ counts }) => counts));
        return [opened.reduce((sum, { items }) => sum + items, 0), resolved];
      };
      expect(await count(0, 30_000)).toEqual([6, 6]);
      expect(await count(0, DAY_MS)).toEqual([6, 6]);
      expect(await count(60_000, 120_000)).toEqual([4, 5]);
      expect(await count(120_000, 121_000)).toEqual([3, 3]);
      expect(await count(41 * DAY_MS, 42 * DAY_MS)).toEqual([0, 0]);
    });
  });

  describe('counting inbox items', () => {
    it('adds them to their slots in steps, even in concurrent processes', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < 9; index += 1) {
        const { item, record } = await addItem(store, `local#${index}`, { created_at: formatAt(index) });
        if (index % 2 === 0) await resolve(store, item, record, 100 + index);
        await Promise.all([store.countInboxItems(1), store.countInboxItems(1)]);
      }
      while ((await store.countInboxItems(2)) > 0);
      const { slots, open, oldest } = await store.readInboxHistory(ALL);
      expect({ open, oldest }).toEqual({ open: 4, oldest: NOW + 1 });
      expect(sumInboxCounts(slots.map(({ counts }) => counts))).toEqual({
        opened: [{ cause: 'MISSING', items: 9 }],
        resolved: 5,
        oldest_resolved: NOW,
      });
    });
  });
}
