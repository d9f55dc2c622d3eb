import { setTimeout as pause } from 'node:timers/promises';

/** The polling interval. */
const INTERVAL_MS = 200;

/** The maximum time without progress, even under load. */
const STALL_MS = 60_000;

/** Waits until `count` returns 0, for as long as it decreases. */
export async function waitUntilNone(what: string, count: () => Promise<number>): Promise<void> {
  let lowestCount = Number.POSITIVE_INFINITY;
  let lastDecreaseAt = performance.now();
  for (;;) {
    const left = await count();
    if (left === 0) return;
    if (left < lowestCount) {
      lowestCount = left;
      lastDecreaseAt = performance.now();
    }
    if (performance.now() - lastDecreaseAt > STALL_MS)
      throw new Error(`${left} ${what} are left, without progress for a minute.`);
    await pause(INTERVAL_MS);
  }
}
