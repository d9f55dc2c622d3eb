import { setTimeout as pause } from 'node:timers/promises';
import { getErrorMessage, type Logger } from '../../base/index.js';
import type { Waker } from './waker.js';

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

/** Work on this host that is repeated in sweeps, one at a time. */
interface SweepOptions {
  /** For the log: `packing`. */
  readonly name: string;
  /** The signal is aborted when the sweeps stop. */
  readonly work: (signal: AbortSignal) => Promise<number>;
  /** Interval between sweeps; if undefined, sweeps run only when `sweep` is called. */
  readonly everyMs: number | undefined;
  readonly logger: Logger;
}

export interface Sweeps {
  /** Sweeps once, after the current sweep; returns the number from `work`. */
  readonly sweep: () => Promise<number>;
  /** Starts no more sweeps, and waits for the current one. */
  readonly stop: () => Promise<void>;
}

/** Repeats a sweep. A failure is logged, and the next sweep tries again. The timer does not keep the process alive. */
export function repeatSweep({ name, work, everyMs, logger }: SweepOptions): Sweeps {
  const stopping = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const sweep = async (): Promise<number> => {
    waiting += 1;
    const result = last.then(async () => work(stopping.signal)).finally(() => (waiting -= 1));
    last = result.catch(() => undefined);
    return result;
  };
  const sweepAndLog = (): void => {
    // If a sweep takes longer than the interval, no queue builds up.
    if (waiting > 0) return;
    sweep().catch((error: unknown) => logger.warn(`${name} failed, will retry`, { error: getErrorMessage(error) }));
  };
  const timer = everyMs === undefined ? undefined : setInterval(sweepAndLog, everyMs).unref();
  return {
    sweep,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await last;
    },
  };
}
