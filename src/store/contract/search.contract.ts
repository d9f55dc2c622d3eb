import { describe, expect, it } from 'vitest';
import type { RunFilter } from '../ports/index.js';
import type { Store } from '../store.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { readAllPages } from './fixtures/read-all-pages.js';
import { UNTRUSTED_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const HOUR = 60 * 60 * 1000;

async function readIds(store: Store, filter: RunFilter): Promise<string[]> {
  return (await store.listRuns(filter)).items.map(({ id }) => id);
}

/** Opens a store with runs that differ in every searchable field, oldest first. */
async function openSearchableStore(makeSite: MakeSite): Promise<Store> {
  const store = await openSite(await makeSite());
  const running = { state: 'running', workerId: 'w1' } as const;
  await store.createRun({
    id: '01A',
    spec: { engine: 'codex', prompt: 'Fix the ÉCLAIR test', workdir: '/srv/Bakery' },
    ...running,
    now: NOW,
  });
  const request = { issue_ref: 'acme/shop#12', instructions: UNTRUSTED_TEXT };
  const submission = sampleSubmission(request, { now: NOW + HOUR });
  const spec = sampleSpec();
  const { record } = await store.submitOrder({ ...submission, run: '01B', spec });
  await store.createRun({ id: '01C', spec: sampleSpec(), state: 'queued', now: NOW + 2 * HOUR });
  const end = { workerId: 'w1', now: NOW + 3 * HOUR };
  await store.endRun({ id: '01A', result: createRunResult({ repair_level: 'schema_aligned' }), ...end });
  const runResult = createRunResult({ status: 'failed' });
  await store.settleOrder({ ...sampleSettlement(record, 'blocked', {}, end.now), runResult });
  return store;
}

/** The contract of run and issue searches. */
export function describeSearch(makeSite: MakeSite): void {
  describe('an issue search', () => {
    it('finds issues whose reference contains every word', async () => {
      const store = await openSite(await makeSite(), { searchWindow: 3 });
      const refs = ['acme/Shop#1', 'acme/shop#12', 'acme/bakery#1', 'local#x'];
      for (const issue_ref of refs) await store.submitOrder(sampleSubmission({ issue_ref }));
      const find = async (search: string, filter: Parameters<typeof store.listIssues>[0] = {}) => {
        const pages = await readAllPages(async (page) => store.listIssues({ search, ...filter, ...page }));
        return pages.flat().map(({ issue_ref }) => issue_ref);
      };
      expect(await find('SHOP')).toEqual(['acme/shop#12', 'acme/Shop#1']);
      expect(await find('acme #1')).toEqual(['acme/bakery#1', 'acme/shop#12', 'acme/Shop#1']);
      expect(await find('#12')).toEqual(['acme/shop#12']);
      expect(await find('acme', { limit: 1 })).toEqual(['acme/bakery#1', 'acme/shop#12', 'acme/Shop#1']);
      expect(await find('shop', { state: 'doing' })).toHaveLength(2);
      expect(await find('shop', { state: 'review' })).toEqual([]);
      expect(await find('%')).toEqual([]);
      expect(await store.listIssues({ search: 'x', limit: 1 })).toMatchObject({
        items: [await store.findIssue('local#x')],
      });
    });
  });

  describe('a run search', () => {
    it('finds a failed run by its error code and message', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['01A', '01B']) {
        await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW });
      }
      const error = { category: 'engine', code: 'RATE_LIMITED', message: `Slow down. ${UNTRUSTED_TEXT}` } as const;
      await store.endRun({ id: '01A', workerId: 'w1', result: createRunResult({ status: 'failed', error }), now: NOW });
      await store.endRun({ id: '01B', workerId: 'w1', result: createRunResult(), now: NOW });
      expect(await readIds(store, { search: 'rate_limited' })).toEqual(['01A']);
      expect(await readIds(store, { search: 'Slow DOWN' })).toEqual(['01A']);
      expect(await readIds(store, { search: 'undefined' })).toEqual([]);
    });

    it.each([
      ['01b', ['01B']],
      ['éclair', ['01A']],
      ['test FIX', ['01A']],
      ['fix shop', []],
      ['bakery', ['01A']],
      ['codex', ['01A']],
      ['shop#12', ['01B']],
      ['drop table', ['01B']],
      ['node', ['01C', '01B']],
      ['01', ['01C', '01B', '01A']],
      ['%', []],
      ['_', []],
      [' \t ', ['01C', '01B', '01A']],
      ['\u0000drop', ['01B']],
      ['\uD800', ['01B']],
      [`'"\\`, []],
    ])('finds the runs whose text contains every word of %j: %j', async (search, ids) => {
      expect(await readIds(await openSearchableStore(makeSite), { search })).toEqual(ids);
    });

    it('filters by outcome, by time of creation, and by both', async () => {
      const store = await openSearchableStore(makeSite);
      expect(await readIds(store, { outcome: 'failed' })).toEqual(['01B']);
      expect(await readIds(store, { outcome: 'canceled' })).toEqual([]);
      expect(await readIds(store, { repairLevel: 'none' })).toEqual(['01B']);
      expect(await readIds(store, { repairLevel: 'schema_aligned', outcome: 'success' })).toEqual(['01A']);
      expect(await readIds(store, { since: NOW + HOUR })).toEqual(['01C', '01B']);
      expect(await readIds(store, { until: NOW + HOUR })).toEqual(['01A']);
      expect(await readIds(store, { since: NOW + 1, until: NOW + 2 * HOUR })).toEqual(['01B']);
      expect(await readIds(store, { search: '01', state: 'queued' })).toEqual(['01C']);
      expect(await readIds(store, { search: '01', engine: 'codex', state: 'ended' })).toEqual(['01A']);
      await store.requestCancel('01C', NOW);
      expect(await readIds(store, { outcome: 'canceled' })).toEqual(['01C']);
    });

    it('filters by end time, by model and by engine version', async () => {
      const store = await openSearchableStore(makeSite);
      const usage = { scope: 'total', input_tokens: 1, output_tokens: 1, model: 'model-x' } as const;
      await store.createRun({ id: '01D', spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW });
      const process = { exit_code: 0, signal: null, command: ['x'], version: '1.2.3' } as const;
      const result = createRunResult({ usage, process });
      await store.endRun({ id: '01D', workerId: 'w1', result, now: NOW + 5 * HOUR });
      expect(await readIds(store, { endedSince: NOW + 3 * HOUR, endedUntil: NOW + 5 * HOUR })).toEqual(['01B', '01A']);
      expect(await readIds(store, { endedSince: NOW + 3 * HOUR + 1 })).toEqual(['01D']);
      expect(await readIds(store, { endedUntil: NOW + 3 * HOUR })).toEqual([]);
      expect(await readIds(store, { model: 'model-x' })).toEqual(['01D']);
      expect(await readIds(store, { model: 'model' })).toEqual([]);
      expect(await readIds(store, { engineVersion: '1.2.3', endedSince: NOW })).toEqual(['01D']);
      expect(await readIds(store, { engineVersion: '1.2.4' })).toEqual([]);
    });

    it('counts what it finds', async () => {
      const store = await openSearchableStore(makeSite);
      expect(await store.countRuns({})).toBe(3);
      expect(await store.countRuns({ state: 'queued' })).toBe(1);
      expect(await store.countRuns({ engine: 'codex' })).toBe(1);
      expect(await store.countRuns({ search: 'node' })).toBe(2);
      expect(await store.countRuns({ since: NOW + HOUR, outcome: 'failed' })).toBe(1);
      expect(await store.countRuns({ endedSince: NOW })).toBe(2);
      expect(await store.countRuns({ endedUntil: NOW })).toBe(0);
    });

    it('counts nothing if too many runs would have to be read', async () => {
      const store = await openSite(await makeSite(), { searchWindow: 1 });
      for (let index = 0; index < 6; index += 1) {
        await store.createRun({ id: `r${index}`, spec: sampleSpec(), state: 'queued', now: NOW + index });
      }
      expect(await store.countRuns({})).toBeUndefined();
      expect(await store.countRuns({ since: NOW + 1 })).toBe(5);
    });

    it('returns the same records as the list', async () => {
      const store = await openSearchableStore(makeSite);
      expect(await store.listRuns({ search: '01' })).toEqual(await store.listRuns({}));
    });

    it('returns pages', async () => {
      const store = await openSearchableStore(makeSite);
      const first = await store.listRuns({ search: '01', limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(['01C', '01B']);
      expect(await readIds(store, { search: '01', limit: 2, cursor: first.next_cursor ?? '' })).toEqual(['01A']);
      expect(await catchCode(store.listRuns({ search: '01', cursor: 'x' }))).toBe('INVALID_CURSOR');
    });

    /** Opens a store whose pages read three runs, with eight, of which the second and the last mention a needle. */
    async function openHaystack(): Promise<Store> {
      const store = await openSite(await makeSite(), { searchWindow: 3 });
      for (let index = 0; index < 8; index += 1) {
        const prompt = index % 6 === 1 ? 'A 绣花针 (needle)' : 'hay';
        await store.createRun({ id: `r${index}`, spec: sampleSpec({ prompt }), state: 'queued', now: NOW + index });
      }
      return store;
    }

    it('reads a bounded number of runs per page for a short word, and returns where to continue', async () => {
      const store = await openHaystack();
      for (const search of ['ne', '花针']) {
        const pages = await readAllPages(async (page) => store.listRuns({ search, ...page }));
        expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['r7'], [], ['r1']]);
        expect(await store.countRuns({ search, until: NOW + 3 })).toBe(1);
      }
    });

    it('finds a longer word in the first page, however many runs there are', async () => {
      const store = await openHaystack();
      expect(store.hasWordIndex).toBe(true);
      expect(await store.listRuns({ search: 'NEEDLE' })).toMatchObject({
        items: [{ id: 'r7' }, { id: 'r1' }],
        next_cursor: null,
      });
      const filter = { search: 'ne needle)', limit: 1 };
      const { next_cursor, items } = await store.listRuns(filter);
      expect(items.map(({ id }) => id)).toEqual(['r7']);
      expect(await readIds(store, { ...filter, cursor: next_cursor ?? '' })).toEqual(['r1']);
      expect(await readIds(store, { search: 'needle', until: NOW + 7 })).toEqual(['r1']);
      expect(await readIds(store, { search: 'needle', state: 'ended' })).toEqual([]);
      expect(await readIds(store, { search: 'eedless' })).toEqual([]);
    });

    it('finds the same runs by the index as in their text, whatever the words contain', async () => {
      const store = await openSite(await makeSite(), { searchWindow: 1 });
      const prompts = [
        '%_%',
        'a%b_c',
        `"quoted" 'it'`,
        'NEAR(one two)',
        'col:umn*',
        'back\\slash',
        'ÉCLAIR',
        '😀😀😀',
        '绣花针',
      ];
      for (const [index, prompt] of prompts.entries()) {
        const spec = sampleSpec({ prompt, workdir: '/w' });
        await store.createRun({ id: `r${index}`, spec, state: 'queued', now: NOW + index });
      }
      const texts = prompts.map((prompt, index) => `r${index}\ncommand\n/w\nnode\n${prompt.toLowerCase()}`);
      const queries = [
        '%b_',
        '"quo',
        `d" 'it`,
        'near(',
        'NEAR one',
        '*',
        '***',
        'AND',
        'one" OR "two',
        'k\\s',
        '\\\\\\',
        '😀😀',
        '花针',
        '-r1',
        '{w}',
        'no%such',
        'command r8',
      ];
      for (const search of [...prompts, ...queries]) {
        const words = search.toLowerCase().split(' ');
        const expected = texts.flatMap((text, index) =>
          words.every((word) => text.includes(word)) ? `r${index}` : [],
        );
        const pages = await readAllPages(async (page) => store.listRuns({ search, ...page }));
        expect([search, pages.flat().map(({ id }) => id)]).toEqual([search, expected.toReversed()]);
      }
    });

    it('finds what the agent said last: its beginning and its end', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['01A', '01B', '01C']) {
        const spec = sampleSpec({ prompt: 'Look for the wheel' });
        await store.createRun({ id, spec, state: 'running', workerId: 'w1', now: NOW });
      }
      const text = `Found it under the sofa.${' and on'.repeat(1000)} 完成了。`;
      await store.endRun({ id: '01A', workerId: 'w1', result: createRunResult({ text }), now: NOW });
      await store.endRun({ id: '01B', workerId: 'w1', result: createRunResult({ text: UNTRUSTED_TEXT }), now: NOW });
      await store.endRun({ id: '01C', workerId: 'w1', result: createRunResult(), now: NOW });
      expect(await readIds(store, { search: 'SOFA' })).toEqual(['01A']);
      expect(await readIds(store, { search: 'wheel sofa' })).toEqual(['01A']);
      expect(await readIds(store, { search: '完成了' })).toEqual(['01A']);
      expect(await readIds(store, { search: 'drop' })).toEqual(['01B']);
      expect(await readIds(store, { search: 'wheel' })).toEqual(['01C', '01B', '01A']);
    });

    it('starts and ends at the requested times, whatever lies before and after, and whichever clock is wrong', async () => {
      const store = await openSite(await makeSite(), { searchWindow: 3 });
      for (const [index, hour] of [1, 2, 9, 3, 4, 0, 5, 6, 7, 8].entries()) {
        const id = `r${hour}`;
        const now = NOW + hour * HOUR;
        await store.createRun({
          id,
          spec: sampleSpec({ workdir: `/${index}` }),
          state: 'running',
          workerId: 'w1',
          now,
        });
        await store.endRun({ id, workerId: 'w1', result: createRunResult(), now: NOW - hour * HOUR });
      }
      const created = { since: NOW + 2 * HOUR, until: NOW + 4 * HOUR };
      expect(await store.listRuns(created)).toMatchObject({ items: [{ id: 'r3' }, { id: 'r2' }], next_cursor: null });
      const ended = { endedSince: NOW - 3 * HOUR, endedUntil: NOW - HOUR };
      expect(await store.listRuns(ended)).toMatchObject({ items: [{ id: 'r2' }, { id: 'r3' }], next_cursor: null });
      expect(await readIds(store, { ...ended, since: NOW + 3 * HOUR })).toEqual(['r3']);
      const pages = await readAllPages(async (page) => store.listRuns({ since: NOW + 3 * HOUR, limit: 2, ...page }));
      expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['r9', 'r8'], ['r7', 'r6'], ['r5', 'r4'], ['r3']]);
    });
  });
}
