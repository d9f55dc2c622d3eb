import { getErrorMessage } from '../base/index.js';
import type { Logger } from '../base/index.js';

/** Work on this machine that is repeated, one sweep after the other. */
export interface SweepOptions {
  /** For the log: `packing`. */
  readonly name: string;
  readonly work: () => Promise<number>;
  /** Undefined: only when it is called. */
  readonly everyMs: number | undefined;
  readonly logger: Logger;
}

/** Sweeps in progress. */
export interface Sweeps {
  /** Sweeps once, after the present sweep; returns how much it did. */
  sweep(): Promise<number>;
  /** Starts no more sweeps, and waits for the present one. */
  stop(): Promise<void>;
}

/** Repeats a sweep. A failure is logged; the next one tries again. The timer does not keep the process alive. */
export function repeatSweep({ name, work, everyMs, logger }: SweepOptions): Sweeps {
  let turn: Promise<unknown> = Promise.resolve();
  const sweep = async (): Promise<number> => {
    const swept = turn.then(work);
    turn = swept.catch(() => undefined);
    return swept;
  };
  const sweepAndLog = (): void => {
    sweep().catch((error: unknown) => logger.warn(`${name} failed, trying again`, { error: getErrorMessage(error) }));
  };
  const timer = everyMs === undefined ? undefined : setInterval(sweepAndLog, everyMs).unref();
  return {
    sweep,
    async stop() {
      clearInterval(timer);
      await turn;
    },
  };
}
