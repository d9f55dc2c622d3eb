import { StoreError } from '../store-error.js';

/** Limits concurrency; further callers wait for their turn. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** Who may begin, and when. */
export interface TurnOptions {
  /** Callers at a time. */
  readonly atOnce: number;
  /** A caller that has waited for so long is refused. */
  readonly longestWaitMs: number;
  /** How many connections are open. More callers at a time than that make the pool open another one. */
  readonly countOpen?: () => number;
  /**
   * How long a caller waits for a connection that is open before another one is opened. To open one takes several times as long
   * as most statements, and its caches are empty.
   */
  readonly patienceMs?: number;
}

/**
 * Allows so many callers at a time. The driver's pool has a queue too, but one timeout for waiting and for connecting: a burst of work
 * would look like an unreachable server.
 */
export function createTurns({ atOnce, longestWaitMs, countOpen, patienceMs = 0 }: TurnOptions): Turns {
  const waiting = new Set<() => void>();
  let busy = 0;

  async function wait(): Promise<void> {
    if (busy < Math.min(atOnce, Math.max(1, countOpen?.() ?? atOnce))) {
      busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const impatience = setTimeout(() => {
        if (busy >= atOnce) return;
        busy += 1;
        waiting.delete(begin);
        begin();
      }, patienceMs);
      const timer = setTimeout(() => {
        clearTimeout(impatience);
        waiting.delete(begin);
        reject(
          new StoreError(
            'STORE_BUSY',
            `The store is busy: ${waiting.size} calls are waiting for a connection. Try again later, or send fewer requests at once.`,
          ),
        );
      }, longestWaitMs);
      const begin = (): void => {
        clearTimeout(impatience);
        clearTimeout(timer);
        resolve();
      };
      waiting.add(begin);
    });
  }

  return {
    async take(work) {
      await wait();
      try {
        return await work();
      } finally {
        // The turn passes directly to the next caller, so that another one cannot take it in between.
        const [next] = waiting;
        if (next === undefined) busy -= 1;
        else {
          waiting.delete(next);
          next();
        }
      }
    },
  };
}
