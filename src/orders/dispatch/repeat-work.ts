import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../base/index.js';
import { createWaker, type Waker } from './waker.js';

/** Minimum time between the starts of two rounds, even if the loop is woken more often. */
const MIN_INTERVAL_MS = 5;
const FAILURE_PAUSE_MS = 200;

export interface RepeatedWork {
  /** For the log: `delivering`. */
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly waker: Waker;
  /** The maximum sleep between two rounds. */
  readonly sleepMs: number;
  /** How long it sleeps after a wake-up; `sleepMs` by default. Doubled after each round without a wake-up, up to `sleepMs`. */
  readonly firstSleepMs?: number;
  readonly logger: Logger;
  /** Ends the repetition after the current round, and its sleep. */
  readonly signal: AbortSignal;
}

/** Repeats work when woken and at intervals, until the signal is aborted. A failure is logged; the next round tries again. */
export async function repeatWork(repeated: RepeatedWork): Promise<void> {
  const { name, work, waker, sleepMs, firstSleepMs = sleepMs, logger, signal } = repeated;
  let longestMs = firstSleepMs;
  signal.addEventListener('abort', waker.wake, { once: true });
  for (;;) {
    const startedAt = performance.now();
    try {
      await work();
    } catch (error) {
      logger.warn(`${name} failed, will retry`, { error: String(error) });
      // Otherwise a loop woken by its own failure would never pause.
      await pause(FAILURE_PAUSE_MS);
    }
    if (signal.aborted) return;
    // Up to a quarter less: loops started together must not poll in lockstep.
    const wasWoken = await waker.sleep(longestMs * (1 - Math.random() / 4));
    longestMs = wasWoken ? firstSleepMs : Math.min(sleepMs, longestMs * 2);
    const remainingMs = startedAt + MIN_INTERVAL_MS - performance.now();
    if (remainingMs > 0) await pause(remainingMs);
  }
}

/** Work of servers and workers besides their runs. */
export interface BackgroundJob {
  /** For the log, and for the lease of a job that one process does for all: `packing`. */
  readonly name: string;
  readonly everyMs: number;
  /** Called every `everyMs`. The signal is aborted when the process stops. */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

/** Repeats a job until the signal is aborted: the first time after its interval, or when its waker is woken. */
export async function repeatJob(
  { name, everyMs, work }: BackgroundJob,
  { logger, signal, waker = createWaker() }: Pick<RepeatedWork, 'logger' | 'signal'> & { readonly waker?: Waker },
): Promise<void> {
  signal.addEventListener('abort', waker.wake, { once: true });
  await waker.sleep(everyMs);
  if (!signal.aborted)
    await repeatWork({ name, work: async () => work(signal), waker, sleepMs: everyMs, logger, signal });
}
