import { setTimeout as pause } from 'node:timers/promises';

/** The polling interval. */
const INTERVAL_MS = 200;

/** The maximum time without progress, even under load. */
const STALL_MS = 60_000;

/** Waits until `count` returns 0, for as long as it decreases. */
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
      throw new Error(`${left} ${what} are left, without progress for a minute.`);
    await pause(INTERVAL_MS);
  }
}
