import { StoreError } from '../store-error.js';

/** Limits concurrency; further callers wait for their turn. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Allows `atOnce` callers at a time. A caller that has waited for `longestWaitMs` is refused. The driver's pool has a queue too, but one
 * timeout for waiting and for connecting: a burst of work would look like an unreachable server.
 */
export function createTurns(atOnce: number, longestWaitMs: number): Turns {
  const waiting = new Set<() => void>();
  let free = atOnce;

  async function wait(): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(
          new StoreError(
            'STORE_BUSY',
            `The store is busy: ${waiting.size} calls are waiting for a connection. Try again later, or send fewer requests at once.`,
          ),
        );
      }, longestWaitMs);
      const begin = (): void => {
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
        // The turn passes directly to the next caller, so that no one else can take it in between.
        const [next] = waiting;
        if (next === undefined) free += 1;
        else {
          waiting.delete(next);
          next();
        }
      }
    },
  };
}
