import { setImmediate as giveWay } from 'node:timers/promises';
import type { Upkeep } from '../../store/index.js';

/** Events that one transaction lets go: few enough that nobody waits for it. */
const EVENTS_AT_ONCE = 1000;

/**
 * Lets go of the events of runs that ended before a moment, at most so many runs and transactions at a time. Tells how
 * many runs are done with.
 */
export async function forgetRuns(
  store: Upkeep,
  { endedBefore, now, runs, steps }: { endedBefore: number; now: number; runs: number; steps: number },
): Promise<number> {
  let forgotten = 0;
  let left = steps;
  for (const id of await store.listForgettableRuns({ endedBefore, limit: runs })) {
    let isDone = false;
    for (; !isDone && left > 0; left -= 1) {
      isDone = await store.forgetEvents({ id, limit: EVENTS_AT_ONCE, now });
      await giveWay();
    }
    if (isDone) forgotten += 1;
  }
  return forgotten;
}
