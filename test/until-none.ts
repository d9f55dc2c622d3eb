import { setTimeout as pause } from 'node:timers/promises';

/** Between two counts. */
const INTERVAL_MS = 200;

/** How long nothing may be finished, also on a busy machine. */
const STALL_MS = 60_000;

/** Waits until `count` says 0, however long that takes, as long as it falls. */
export async function untilNone(what: string, count: () => Promise<number>): Promise<void> {
  let fewest = Number.POSITIVE_INFINITY;
  let fellAt = performance.now();
  for (;;) {
    const left = await count();
    if (left === 0) return;
    if (left < fewest) {
      fewest = left;
      fellAt = performance.now();
    }
    if (performance.now() - fellAt > STALL_MS)
      throw new Error(`${left} ${what} are left, and none was finished for a minute`);
    await pause(INTERVAL_MS);
  }
}
