import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../records/run-result.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleItem, NOW, sampleResolution, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { HOSTILE_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const ALL = { since: 0, until: NOW * 2, limit: 100 };

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

/** The figures that a store returns. */
export function describeStatistics(makeSite: MakeSite): void {
  describe('the figures of runs', () => {
    it('show how each run of a span ended, the latest first', async () => {
      const store = await openSite(await makeSite());
      const process = { exit_code: 0, signal: null, command: ['codex'], version: '0.166.0' };
      await endRun(store, 'r1', 10, { process, drift: { unknown_types: 2, unknown_fields: 1 } });
      await endRun(store, 'r2', 30, { status: 'failed' });
      await endRun(store, 'r3', 20, { repair_level: 'deterministic_generic' });
      await store.createRun({ id: 'r4', spec: sampleSpec(), state: 'queued', now: NOW });
      const figure = {
        engine: 'command',
        outcome: 'success',
        repair_level: 'none',
        engine_version: null,
        unknown_types: 0,
        unknown_fields: 0,
        usage: null,
        started_at: NOW,
      };
      expect(await store.listRunFigures(ALL)).toEqual([
        { ...figure, outcome: 'failed', ended_at: NOW + 30 },
        { ...figure, repair_level: 'deterministic_generic', ended_at: NOW + 20 },
        { ...figure, engine_version: '0.166.0', unknown_types: 2, unknown_fields: 1, ended_at: NOW + 10 },
      ]);
      expect(await store.listRunFigures({ ...ALL, limit: 1 })).toHaveLength(1);
      const span = { since: NOW + 10, until: NOW + 30, limit: 100 };
      expect((await store.listRunFigures(span)).map(({ ended_at }) => ended_at - NOW)).toEqual([20, 10]);
    });

    it('have the tokens, the cost and the model of a run, but not of a cached result', async () => {
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
      const [third, second, first] = await store.listRunFigures(ALL);
      const { scope: _scope, ...used } = usage;
      expect(first?.usage).toEqual({ ...used, model: 'opus' });
      expect(second?.usage).toMatchObject({ input_tokens: 1, cached_input_tokens: 0, output_tokens: 2, cost: null });
      expect(second?.usage?.model).toHaveLength(100);
      expect(third?.usage).toBeNull();
    });

    it('count a run that was canceled before it started, and none twice', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      await store.requestCancel('r1', NOW + 5);
      await store.requestCancel('r1', NOW + 9);
      await endRun(store, 'r2', 1);
      await store.requestCancel('r2', NOW + 9);
      expect(await store.listRunFigures(ALL)).toMatchObject([
        { outcome: 'canceled', started_at: null, ended_at: NOW + 5 },
        { outcome: 'success', ended_at: NOW + 1 },
      ]);
    });

    it('shorten the version of a program, and leave out the drift of cached results', async () => {
      const store = await openSite(await makeSite());
      const process = { exit_code: 0, signal: null, command: ['x'], version: HOSTILE_TEXT.repeat(20) };
      const drift = { unknown_types: 1, unknown_fields: 1 };
      await endRun(store, 'r1', 1, { process });
      await endRun(store, 'r2', 2, { process, drift, cached_from: 'r1' });
      const [second, first] = await store.listRunFigures(ALL);
      expect(first?.engine_version).toHaveLength(100);
      expect(second).toMatchObject({ engine_version: null, unknown_types: 0, unknown_fields: 0 });
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
