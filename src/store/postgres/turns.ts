import { StoreError } from '../store-error.js';

/** Lets so many do something at once; the others wait for their turn. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Makes turns for `atOnce`. Who has waited for `longestWaitMs` is refused. The pool of the driver has a queue too, but one
 * time limit for waiting and for connecting: a burst of work would pass for a server that does not answer.
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
            `too much is asked of the store at once: ${waiting.size} calls wait; ask for less`,
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
        // Who waits gets the turn itself: it is not free in between.
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
