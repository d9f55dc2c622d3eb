import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/index.js';
import type { Waker } from './waker.js';

/** Two rounds begin at least so far apart, however often it is woken. */
const MIN_DISTANCE_MS = 5;
const FAILURE_PAUSE_MS = 200;

/** Work that is repeated. */
export interface RepeatedWork {
  /** For the log: `delivering`. */
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly waker: Waker;
  /** How long it sleeps at most between two rounds. */
  readonly sleepMs: number;
  /** How long it sleeps after a wake-up; twice as long after each round without one, up to `sleepMs`, which is the default. */
  readonly firstSleepMs?: number;
  readonly logger: Logger;
  /** Ends the repetition after the present round. */
  readonly signal: AbortSignal;
}

/** Does work when woken and every so often, until the signal is aborted. A failure is logged; the next round tries again. */
export async function repeatWork(repeated: RepeatedWork): Promise<void> {
  const { name, work, waker, sleepMs, firstSleepMs = sleepMs, logger, signal } = repeated;
  let longestMs = firstSleepMs;
  for (;;) {
    const began = performance.now();
    try {
      await work();
    } catch (error) {
      logger.warn(`${name} failed, trying again`, { error: String(error) });
      // Not at once: a loop that is woken by its own failure would not stop.
      await pause(FAILURE_PAUSE_MS);
    }
    if (signal.aborted) return;
    // Up to a quarter less: loops that were started together must not look together.
    const wasWoken = await waker.sleep(longestMs * (1 - Math.random() / 4));
    longestMs = wasWoken ? firstSleepMs : Math.min(sleepMs, longestMs * 2);
    // One that was asleep begins at once.
    const early = began + MIN_DISTANCE_MS - performance.now();
    if (early > 0) await pause(early);
  }
}
