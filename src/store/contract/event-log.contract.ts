import { describe, expect, it, vi } from 'vitest';
import type { Emitted } from '../../events/index.js';
import { codeOf, openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, submissionOf } from './fixtures/order-samples.js';
import { fcmpOf, HOSTILE_TEXT, raspOf, specOf } from './fixtures/run-samples.js';

/** A wake-up may be late; this only ends what hangs. */
const PATIENCE = { timeout: 10_000 };

/** How events are kept, read and announced. */
export function describeEventLog(makeSite: MakeSite): void {
  const seqs = (events: readonly Emitted[]): number[] => events.map(({ event }) => event.seq);

  describe('append and read', () => {
    it('return the events of one run and protocol in their order', async () => {
      const store = await openSite(await makeSite());
      const [rasp1, rasp2, rasp3] = [raspOf(1, 1, HOSTILE_TEXT), raspOf(1, 2), raspOf(2, 1)];
      const [fcmp1, fcmp2, fcmp3] = [fcmpOf(1, HOSTILE_TEXT), fcmpOf(2), fcmpOf(3, 'x', 2)];
      await store.append('run', [rasp1, fcmp1, rasp2, fcmp2]);
      await store.append('run', [rasp3, fcmp3]);
      await store.append('other', [fcmpOf(1)]);
      expect(await store.read({ runId: 'run', protocol: 'rasp', limit: 10 })).toEqual([rasp1, rasp2, rasp3]);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 10 })).toEqual([fcmp1, fcmp2, fcmp3]);
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
      const [wakeFirst, wakeSecond] = [vi.fn<() => void>(), vi.fn<() => void>()];
      const stopFirst = store.watch('run', wakeFirst);
      const stopSecond = store.watch('run', wakeSecond);
      await store.append('run', [fcmpOf(1)]);
      await vi.waitFor(() => expect(wakeFirst).toHaveBeenCalled(), PATIENCE);
      await vi.waitFor(() => expect(wakeSecond).toHaveBeenCalled(), PATIENCE);
      stopFirst();
      wakeFirst.mockClear();
      wakeSecond.mockClear();
      await store.append('run', [fcmpOf(2)]);
      // A store may call late: the one that still watches tells when the call for this event is through.
      await vi.waitFor(() => expect(wakeSecond).toHaveBeenCalled(), PATIENCE);
      stopSecond();
      expect(wakeFirst).not.toHaveBeenCalled();
    });

    it('finds every event by reading on after each call', async () => {
      const store = await openSite(await makeSite());
      const seen: number[] = [];
      const readOn = async (): Promise<void> => {
        const events = await store.read({ runId: 'run', protocol: 'fcmp', after: seen.at(-1) ?? 0, limit: 7 });
        const fresh = seqs(events).filter((seq) => seq > (seen.at(-1) ?? 0));
        seen.push(...fresh);
        if (fresh.length > 0) await readOn();
      };
      const stop = store.watch('run', () => void readOn());
      for (let seq = 1; seq <= 50; seq++) await store.append('run', [fcmpOf(seq)]);
      await vi.waitFor(() => expect(seen).toHaveLength(50), PATIENCE);
      stop();
      expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    });
  });

  describe('watchQueue', () => {
    it('calls back when there is an order or a run to take', async () => {
      const store = await openSite(await makeSite());
      const wake = vi.fn<() => void>();
      const stop = store.watchQueue(wake);
      await store.submitOrder(submissionOf());
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), PATIENCE);
      wake.mockClear();
      await store.createRun({ id: 'r1', spec: specOf(), state: 'queued', now: NOW });
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), PATIENCE);
      stop();
    });
  });
}
