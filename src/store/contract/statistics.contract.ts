import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../records/run-result.js';
import { sumCounts } from '../roll-up.js';
import type { RunCounts, RunSpan } from '../roll-up.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleItem, NOW, sampleResolution, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { HOSTILE_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Some days around {@link NOW}, ending in the middle of a minute. */
const ALL = { since: Math.floor(NOW / DAY_MS) * DAY_MS - DAY_MS, until: NOW + 40_001, stepMs: HOUR_MS };

async function endRun(store: Store, id: string, ms: number, result: Partial<RunResult> = {}): Promise<void> {
  await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW });
  await store.endRun({ id, workerId: 'w1', result: createRunResult(result), now: NOW + ms });
}

/** An inbox item of a new issue. */
async function ask(store: Store, issue: string, change: Parameters<typeof sampleItem>[1] = {}) {
  const { record } = await store.submitOrder(sampleSubmission({ issue_ref: issue }));
  const item = sampleItem(record, change);
  await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
  return { record, item };
}

const at = (ms: number): string => new Date(NOW + ms).toISOString();

/** The counts of a span, by engine, as they are summed up for a chart. */
async function countRuns(store: Store, span: RunSpan = ALL): Promise<Record<string, RunCounts>> {
  const slots = await store.listRunSlots(span);
  const engines = [...new Set(slots.map(({ engine }) => engine))];
  const sum = (wanted: string) =>
    sumCounts(slots.filter(({ engine }) => engine === wanted).map(({ counts }) => counts));
  return Object.fromEntries(engines.map((engine) => [engine, sum(engine)]));
}

/** The figures that a store returns. */
export function describeStatistics(makeSite: MakeSite): void {
  describe.each([
    ['before they are in their slots', async () => undefined],
    ['from their slots', async (store: Store) => store.countEndedRuns(100)],
  ])('the counts of runs, %s,', (_, prepare) => {
    it('show how the runs of a span ended', async () => {
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

    it('have the tokens, the cost and the model of runs, but not of cached results', async () => {
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
        usage: { scope: 'total', input_tokens: 1, output_tokens: 2, model: HOSTILE_TEXT.repeat(20) },
      });
      await endRun(store, 'r3', 3, { usage, cached_from: 'r1' });
      await endRun(store, 'r4', 4, { usage, model: 'opus' });
      await prepare(store);
      const { scope: _scope, ...used } = usage;
      const found = (await countRuns(store))['command']?.usage ?? [];
      const [opus, hostile] = found.toSorted((one, other) => other.runs - one.runs);
      expect(found).toHaveLength(2);
      expect(opus).toEqual({
        ...used,
        model: 'opus',
        runs: 2,
        input_tokens: 2400,
        cached_input_tokens: 400,
        output_tokens: 80,
        cost: 0.5,
      });
      expect(hostile).toMatchObject({ runs: 1, input_tokens: 1, cached_input_tokens: 0, output_tokens: 2, cost: 0 });
      expect(hostile?.model).toHaveLength(100);
    });

    it('have a run that was canceled before it started, and none twice', async () => {
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

    it('shorten the version of a program, and leave out the drift of cached results', async () => {
      const store = await openSite(await makeSite());
      const process = { exit_code: 0, signal: null, command: ['x'], version: HOSTILE_TEXT.repeat(20) };
      const drift = { unknown_types: 1, unknown_fields: 1 };
      await endRun(store, 'r1', 1, { process });
      await endRun(store, 'r2', 2, { process, drift, cached_from: 'r1' });
      await prepare(store);
      const [version, ...others] = (await countRuns(store))['command']?.drift ?? [];
      expect(version).toMatchObject({ runs: 1, unknown_types: 0, unknown_fields: 0 });
      expect(version?.engine_version).toHaveLength(100);
      expect(others).toEqual([]);
    });

    it('count runs of orders too', async () => {
      const store = await openSite(await makeSite());
      await ask(store, 'local#1');
      await prepare(store);
      const counts = Object.values(await countRuns(store, { ...ALL, until: NOW * 2 }));
      expect(sumCounts(counts).outcomes).toMatchObject({ success: 1 });
    });
  });

  describe('counting', () => {
    it('puts runs into their slots, some at a time, also when several do it at once', async () => {
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

  describe('the figures of the inbox', () => {
    it('show when an item was opened and resolved, and why', async () => {
      const store = await openSite(await makeSite());
      const { item, record } = await ask(store, 'local#1', { created_at: at(0) });
      await ask(store, 'local#2', {
        created_at: at(10),
        result_code: 'env_unavailable',
        reading: { source: 'none', problems: [] },
      });
      const resolution = sampleResolution(item, record, 'accept');
      await store.resolveItem({ ...resolution, resolution: { ...resolution.resolution, at: at(5) } });
      const settled = { created_at: NOW, resolved_at: NOW + 5, cause: 'MISSING' };
      const open = { created_at: NOW + 10, resolved_at: null, cause: 'env_unavailable' };
      const figures = async (since: number, until: number, limit = 100) =>
        store.listInboxFigures({ since: NOW + since, until: NOW + until, limit });
      expect(await figures(0, 99)).toHaveLength(2);
      expect(await figures(0, 99)).toEqual(expect.arrayContaining([settled, open]));
      expect(await figures(5, 10)).toEqual([settled]);
      expect(await figures(6, 10)).toEqual([]);
      expect(await figures(6, 99)).toEqual([open]);
    });

    it('read a bounded number of open items and of the latest', async () => {
      const store = await openSite(await makeSite());
      await ask(store, 'local#1', { created_at: at(0) });
      for (let index = 2; index < 6; index += 1) {
        const { item, record } = await ask(store, `local#${index}`, { created_at: at(index) });
        await store.resolveItem(sampleResolution(item, record, 'accept'));
      }
      const figures = await store.listInboxFigures({ since: 0, until: NOW * 2, limit: 2 });
      expect(figures.map(({ created_at }) => created_at - NOW).toSorted((one, other) => one - other)).toEqual([
        0, 4, 5,
      ]);
    });
  });
}
