import { describe, expect, it, vi } from 'vitest';
import type { Emitted } from '../../events/index.js';
import { describeEventLog as describeAnyEventLog } from '../../runs/ports/event-log.contract.js';
import { describeWatchableEventLog } from '../../runs/ports/watchable-event-log.contract.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleSubmission } from './fixtures/order-samples.js';
import { sampleFcmp, HOSTILE_TEXT, sampleRasp, sampleSpec } from './fixtures/run-samples.js';

/** A wake-up may be late; this only ends what hangs. */
const PATIENCE = { timeout: 10_000 };

/** The contract of every event log, and what a store adds to it. */
export function describeEventLog(makeSite: MakeSite): void {
  const open = async () => openSite(await makeSite());
  describeAnyEventLog('of the store', open);
  describeWatchableEventLog('of the store', open);

  const seqs = (events: readonly Emitted[]): number[] => events.map(({ event }) => event.seq);

  describe('append and read', () => {
    it('preserve every text an agent can print', async () => {
      const store = await openSite(await makeSite());
      const [rasp, fcmp] = [sampleRasp(1, 1, HOSTILE_TEXT), sampleFcmp(1, HOSTILE_TEXT)];
      await store.append('run', [rasp, fcmp]);
      expect(await store.read({ runId: 'run', protocol: 'rasp', limit: 10 })).toEqual([rasp]);
      expect(await store.read({ runId: 'run', protocol: 'fcmp', limit: 10 })).toEqual([fcmp]);
    });

    it('store many events of many runs at once', async () => {
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
        expect(seqs(events)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
        expect(events[299]).toEqual(sampleFcmp(300, `run ${run}`));
      }
    });
  });

  describe('watchQueue', () => {
    it('calls back when there is an order or a run to claim', async () => {
      const store = await openSite(await makeSite());
      const wake = vi.fn<() => void>();
      const stop = store.watchQueue(wake);
      await store.submitOrder(sampleSubmission());
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), PATIENCE);
      wake.mockClear();
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), PATIENCE);
      stop();
    });
  });
}
