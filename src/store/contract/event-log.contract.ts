import { describe, expect, it } from 'vitest';
import type { Emitted } from '../../events/index.js';
import { codeOf, openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, submissionOf } from './fixtures/order-samples.js';
import { fcmpOf, HOSTILE_TEXT, raspOf, specOf } from './fixtures/run-samples.js';

/** How events are kept, read and announced. */
export function describeEventLog(makeSite: MakeSite): void {
  const seqs = (events: readonly Emitted[]): number[] => events.map(({ event }) => event.seq);

  describe('append and read', () => {
    it('return the events of one run and protocol in their order', async () => {
      const store = await openSite(await makeSite());
      const rasp = [raspOf(1, 1, HOSTILE_TEXT), raspOf(1, 2), raspOf(2, 1)];
      const fcmp = [fcmpOf(1, HOSTILE_TEXT), fcmpOf(2), fcmpOf(3, 'x', 2)];
      await store.append(
        'run',
        [rasp[0], fcmp[0], rasp[1], fcmp[1]].filter((event) => event !== undefined),
      );
      await store.append(
        'run',
        [rasp[2], fcmp[2]].filter((event) => event !== undefined),
      );
      await store.append('other', [fcmpOf(1)]);
      expect(await store.read({ runId: 'run', protocol: 'rasp', limit: 10 })).toEqual(rasp);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 10 })).toEqual(fcmp);
      expect(await store.read({ runId: 'none', protocol: 'fcmp', limit: 10 })).toEqual([]);
    });

    it('begin after a position and end at one', async () => {
      const store = await openSite(await makeSite());
      const events = [1, 2, 3, 4, 5].flatMap((seq) => [fcmpOf(seq), raspOf(1, seq), raspOf(2, seq)]);
      await store.append('run', events);
      const fcmp = { runId: 'run', protocol: 'fcmp', limit: 10 } as const;
      expect(seqs(await store.read({ ...fcmp, after: 3 }))).toEqual([4, 5]);
      expect(seqs(await store.read({ ...fcmp, after: '1', to: '3' }))).toEqual([2, 3]);
      expect(seqs(await store.read({ ...fcmp, after: 1, limit: 2 }))).toEqual([2, 3]);
      expect(seqs(await store.read({ ...fcmp, after: 5 }))).toEqual([]);
      expect(await store.read({ ...fcmp, limit: 0 })).toEqual([]);
      const rasp = { runId: 'run', protocol: 'rasp', limit: 10 } as const;
      expect(seqs(await store.read({ ...rasp, after: '1:3' }))).toEqual([4, 5, 1, 2, 3, 4, 5]);
      expect(seqs(await store.read({ ...rasp, after: '1:4', to: '2:2' }))).toEqual([5, 1, 2]);
      expect(seqs(await store.read({ ...rasp, after: '1:99' }))).toEqual([1, 2, 3, 4, 5]);
    });

    it('refuse a position of the wrong form', async () => {
      const store = await openSite(await makeSite());
      const query = { runId: 'run', limit: 1 };
      expect(await codeOf(store.read({ ...query, protocol: 'fcmp', after: '1:2' }))).toBe('INVALID_POSITION');
      expect(await codeOf(store.read({ ...query, protocol: 'rasp', after: 2 }))).toBe('INVALID_POSITION');
      expect(await codeOf(store.read({ ...query, protocol: 'fcmp', to: 'x' }))).toBe('INVALID_POSITION');
    });

    it('keep the first of two events with the same place', async () => {
      const store = await openSite(await makeSite());
      await store.append('run', [fcmpOf(1, 'first'), fcmpOf(1, 'second')]);
      await store.append('run', [fcmpOf(1, 'third', 2), fcmpOf(2)]);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 10 })).toEqual([fcmpOf(1, 'first'), fcmpOf(2)]);
    });

    it('take many events of many runs at once', async () => {
      const store = await openSite(await makeSite());
      await Promise.all(
        Array.from({ length: 20 }, async (_, run) =>
          store.append(
            `run ${run}`,
            Array.from({ length: 300 }, (__, index) => fcmpOf(index + 1, `run ${run}`)),
          ),
        ),
      );
      for (const run of [0, 19]) {
        const events = await store.read({ runId: `run ${run}`, protocol: 'fcmp', limit: 1000 });
        expect(seqs(events)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
        expect(events[299]).toEqual(fcmpOf(300, `run ${run}`));
      }
    });
  });

  describe('watch', () => {
    it('calls back after events of the run were added, until it is stopped', async () => {
      const store = await openSite(await makeSite());
      const woken = createSignal();
      let calls = 0;
      const stop = store.watch('run', () => {
        calls += 1;
        woken.resolve();
      });
      await store.append('run', [fcmpOf(1)]);
      await woken.promise;
      stop();
      const before = calls;
      await store.append('run', [fcmpOf(2)]);
      await store.append('run', [fcmpOf(3)]);
      expect(calls).toBe(before);
    });

    it('finds every event by reading on after each call', async () => {
      const store = await openSite(await makeSite());
      const seen: number[] = [];
      const done = createSignal();
      const readOn = async (): Promise<void> => {
        const events = await store.read({ runId: 'run', protocol: 'fcmp', after: seen.at(-1) ?? 0, limit: 7 });
        const fresh = seqs(events).filter((seq) => seq > (seen.at(-1) ?? 0));
        seen.push(...fresh);
        if (fresh.length > 0) await readOn();
        if (seen.length === 50) done.resolve();
      };
      const stop = store.watch('run', () => void readOn());
      for (let seq = 1; seq <= 50; seq++) await store.append('run', [fcmpOf(seq)]);
      await done.promise;
      stop();
      expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    });
  });

  describe('watchQueue', () => {
    it('calls back when there is an order or a run to take', async () => {
      const store = await openSite(await makeSite());
      let woken = createSignal();
      const stop = store.watchQueue(() => woken.resolve());
      await store.submitOrder(submissionOf());
      await woken.promise;
      woken = createSignal();
      await store.createRun({ id: 'r1', spec: specOf(), state: 'queued', now: NOW });
      await woken.promise;
      stop();
      expect(await store.findRun('r1')).toBeDefined();
    });
  });
}

/** Node.js 20 has no `Promise.withResolvers`. */
function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
