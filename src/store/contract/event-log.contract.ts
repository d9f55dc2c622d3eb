import { describe, expect, it, vi } from 'vitest';
import type { Emitted } from '../../events/index.js';
import { describeEventLog as describeAnyEventLog } from './any-event-log.contract.js';
import { describeWatchableEventLog } from './watchable-event-log.contract.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim, sampleSubmission } from './fixtures/order-samples.js';
import { createRunResult, sampleFcmp, UNTRUSTED_TEXT, sampleRasp, sampleSpec } from './fixtures/run-samples.js';

/** Wake-ups can be late; this only stops a test that hangs. */
const WAIT_OPTIONS = { timeout: 10_000 };

/** The event log contract, with additions for stores. */
export function describeEventLog(makeSite: MakeSite): void {
  const open = async () => openSite(await makeSite());
  describeAnyEventLog('of the store', open);
  describeWatchableEventLog('of the store', open);

  const readSeqs = (events: readonly Emitted[]): number[] => events.map(({ event }) => event.seq);

  describe('append and read', () => {
    it('preserve all output an agent can print', async () => {
      const store = await openSite(await makeSite());
      const [rasp, fcmp] = [sampleRasp(1, 1, UNTRUSTED_TEXT), sampleFcmp(1, UNTRUSTED_TEXT)];
      await store.append('run', [rasp, fcmp]);
      expect(await store.read({ runId: 'run', protocol: 'rasp', limit: 10 })).toEqual([rasp]);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 10 })).toEqual([fcmp]);
    });

    it('store many events of many runs concurrently', async () => {
      const store = await openSite(await makeSite());
      await Promise.all(
        Array.from({ length: 20 }, async (_, run) =>
          store.append(
            `run ${run}`,
            Array.from({ length: 300 }, (__, index) => sampleFcmp(index + 1, `run ${run}`)),
          ),
        ),
      );
      for (const run of [0, 19]) {
        const events = await store.read({ runId: `run ${run}`, protocol: 'fcmp', limit: 1000 });
        expect(readSeqs(events)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
        expect(events[299]).toEqual(sampleFcmp(300, `run ${run}`));
      }
    });
  });

  describe('events of a worker', () => {
    it('are stored only while it holds the run, also if those of others are written with them', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2'])
        await store.createRun({ id, spec: sampleSpec({ workdir: `/work/${id}` }), state: 'queued', now: NOW });
      await store.claimRun(sampleClaim('w1'));
      await store.claimRun(sampleClaim('w2'));
      await store.append('r1', [sampleFcmp(1)], undefined, 'w1');
      expect(await store.fenceRun({ id: 'r1', from: 'w1', to: 'w3', leaseMs: 1000, now: NOW })).toBe(true);
      const append = async (id: string, seq: number, heldBy?: string) =>
        store.append(id, [sampleFcmp(seq)], undefined, heldBy).then(
          () => 'stored',
          (error: { readonly code?: string }) => error.code,
        );
      const outcomes = [append('r1', 2, 'w1'), append('r1', 3, 'w3'), append('r2', 1, 'w2'), append('r2', 2)];
      expect(await Promise.all(outcomes)).toEqual(['ORDER_NOT_FOUND', 'stored', 'stored', 'stored']);
      // Events that are stored are no reason to accept others, and a run that has ended accepts none.
      expect(await append('r1', 1, 'w1')).toBe('ORDER_NOT_FOUND');
      await store.endRun({ id: 'r2', workerId: 'w2', result: createRunResult(), now: NOW });
      expect(await append('r2', 3, 'w2')).toBe('ORDER_NOT_FOUND');
      expect(readSeqs(await store.read({ runId: 'r1', protocol: 'fcmp', limit: 10 }))).toEqual([1, 3]);
      expect(readSeqs(await store.read({ runId: 'r2', protocol: 'fcmp', limit: 10 }))).toEqual([1, 2]);
    });
  });

  describe('appending events again', () => {
    const range = (first: number, last: number, text?: string): Emitted[] =>
      Array.from({ length: last - first + 1 }, (_, index) => sampleFcmp(first + index, text));

    it.each([
      ['the same', [range(1, 40), range(1, 40, 'again')]],
      ['more than before', [range(1, 3), range(1, 40, 'again')]],
      ['from the middle', [range(1, 30), range(20, 40, 'again')]],
      ['overlapping multiple earlier batches', [range(10, 12), range(20, 25), range(30, 30), range(1, 40, 'again')]],
      ['before the existing events', [range(30, 40), range(1, 34, 'again')]],
      ['within one call', [[...range(1, 5), ...range(3, 40, 'again')]]],
    ])('leaves each event unchanged, in order: %s', async (_, appends) => {
      const store = await openSite(await makeSite());
      const expected = new Map<number, Emitted>();
      for (const events of appends) {
        await store.append('run', events);
        for (const emitted of events) {
          if (!expected.has(emitted.event.seq)) expected.set(emitted.event.seq, emitted);
        }
      }
      const all = [...expected].toSorted(([one], [other]) => one - other).map(([, emitted]) => emitted);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 1000 })).toEqual(all);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', after: 11, to: 33, limit: 1000 })).toEqual(
        all.filter(({ event: { seq } }) => seq > 11 && seq <= 33),
      );
    });

    it('leaves each event unchanged when two processes append concurrently', async () => {
      const url = await makeSite();
      const stores = [await openSite(url), await openSite(url)];
      if (url.startsWith('memory:')) stores.pop();
      for (let start = 1; start <= 200; start += 20) {
        await Promise.all(stores.map(async (store) => store.append('run', range(start, start + 19))));
      }
      const events = await stores[0]?.read({ runId: 'run', protocol: 'fcmp', limit: 1000 });
      expect(readSeqs(events ?? [])).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    });

    it('reads full pages that start between events appended together', async () => {
      const store = await openSite(await makeSite());
      await store.append('run', range(1, 8));
      await store.append('run', range(9, 12));
      expect(readSeqs(await store.read({ runId: 'run', protocol: 'fcmp', after: 5, limit: 6 }))).toEqual([
        6, 7, 8, 9, 10, 11,
      ]);
    });

    it('reads pages of large events sequentially', async () => {
      const store = await openSite(await makeSite());
      const large = [1, 2, 3].map((seq) => sampleFcmp(seq, `${seq}`.repeat(3_000_000)));
      await store.append('run', large);
      const pages: number[] = [];
      for (let after = 0; after < 3; after = pages.at(-1) ?? 3) {
        const page = await store.read({ runId: 'run', protocol: 'fcmp', after, limit: 10 });
        expect(page).toEqual(large.slice(after, after + page.length));
        pages.push(after + page.length);
      }
      expect(pages.at(-1)).toBe(3);
    });
  });

  describe('watchQueue', () => {
    it('calls back when an order or a run can be claimed', async () => {
      const store = await openSite(await makeSite());
      const wake = vi.fn<() => void>();
      const stop = store.watchQueue(wake);
      await store.submitOrder(sampleSubmission());
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), WAIT_OPTIONS);
      wake.mockClear();
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), WAIT_OPTIONS);
      stop();
    });
  });
}
