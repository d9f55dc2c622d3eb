import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/index.js';
import type { Waker } from './waker.js';

/** However often it is woken, it looks no more often than this. */
const LEAST_PAUSE_MS = 5;
const FAILURE_PAUSE_MS = 200;

/** Work that is repeated. */
export interface RepeatedWork {
  /** For the log: `delivering`. */
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly waker: Waker;
  /** How long it sleeps at most between two rounds. */
  readonly sleepMs: number;
  readonly logger: Logger;
  /** Ends the repetition after the present round. */
  readonly signal: AbortSignal;
}

/** Does work when woken and every so often, until the signal is aborted. A failure is logged; the next round tries again. */
export async function repeatWork({ name, work, waker, sleepMs, logger, signal }: RepeatedWork): Promise<void> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      logger.warn(`${name} failed, trying again`, { error: String(error) });
      // Not at once: a loop that is woken by its own failure would not stop.
      await pause(FAILURE_PAUSE_MS);
    }
    if (signal.aborted) return;
    await waker.sleep(sleepMs);
    await pause(LEAST_PAUSE_MS);
  }
}
