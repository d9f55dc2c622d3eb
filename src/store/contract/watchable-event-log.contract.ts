import { describe, expect, it, vi } from 'vitest';
import { createTwoAttempts } from './any-event-log.contract.js';
import type { WatchableEventLog } from '../ports/index.js';

/** A wake-up can be late; this limit only stops a hanging test. */
const WAIT_OPTIONS = { timeout: 10_000 };

/** The contract of every watchable event log. `open` creates an empty one. */
export function describeWatchableEventLog(name: string, open: () => Promise<WatchableEventLog>): void {
  describe(`watching the event log ${name}`, () => {
    const events = createTwoAttempts('run-1');

    it('wakes after events of the run are added, until it is stopped', async () => {
      const log = await open();
      const [wakeFirst, wakeSecond] = [vi.fn<() => void>(), vi.fn<() => void>()];
      const stopFirst = log.watch('run-1', wakeFirst);
      const stopSecond = log.watch('run-1', wakeSecond);
      await log.append('run-1', events.slice(0, 3));
      await vi.waitFor(() => expect(wakeFirst).toHaveBeenCalled(), WAIT_OPTIONS);
      await vi.waitFor(() => expect(wakeSecond).toHaveBeenCalled(), WAIT_OPTIONS);
      stopFirst();
      wakeFirst.mockClear();
      wakeSecond.mockClear();
      await log.append('run-1', events.slice(3));
      // A log can notify late: the remaining watcher shows when the notification for these events has arrived.
      await vi.waitFor(() => expect(wakeSecond).toHaveBeenCalled(), WAIT_OPTIONS);
      stopSecond();
      expect(wakeFirst).not.toHaveBeenCalled();
    });

    it('wakes a reader often enough to find every event', async () => {
      const log = await open();
      const seenSeqs: number[] = [];
      const readMore = async (): Promise<void> => {
        const page = await log.read({ runId: 'run-1', protocol: 'fcmp', after: seenSeqs.at(-1) ?? 0, limit: 2 });
        const newSeqs = page.map(({ event }) => event.seq).filter((seq) => seq > (seenSeqs.at(-1) ?? 0));
        seenSeqs.push(...newSeqs);
        if (newSeqs.length > 0) await readMore();
      };
      const stop = log.watch('run-1', () => void readMore());
      for (const event of events) await log.append('run-1', [event]);
      const expected = events.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [event.seq] : []));
      await vi.waitFor(() => expect(seenSeqs).toEqual(expected), WAIT_OPTIONS);
      stop();
    });
  });
}
