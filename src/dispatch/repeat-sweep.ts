import { getErrorMessage } from '../base/index.js';
import type { Logger } from '../base/index.js';

/** Work on this host that is repeated in sweeps, one at a time. */
export interface SweepOptions {
  /** For the log: `packing`. */
  readonly name: string;
  readonly work: () => Promise<number>;
  /** Interval between sweeps; if undefined, sweeps run only when `sweep` is called. */
  readonly everyMs: number | undefined;
  readonly logger: Logger;
}

/** Repeated sweeps. */
export interface Sweeps {
  /** Sweeps once, after the current sweep; returns the number from `work`. */
  readonly sweep: () => Promise<number>;
  /** Starts no more sweeps, and waits for the current one. */
  readonly stop: () => Promise<void>;
}

/** Repeats a sweep. A failure is logged, and the next sweep tries again. The timer does not keep the process alive. */
export function repeatSweep({ name, work, everyMs, logger }: SweepOptions): Sweeps {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const sweep = async (): Promise<number> => {
    waiting += 1;
    const result = last.then(work).finally(() => (waiting -= 1));
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
      await last;
    },
  };
}
