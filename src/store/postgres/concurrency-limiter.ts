import { StoreError } from '../store-error.js';

/** Limits concurrency; excess callers wait for their turn. */
export interface ConcurrencyLimiter {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export interface ConcurrencyOptions {
  /** The maximum number of concurrent callers. */
  readonly limit: number;
  /** A caller that has waited this long is rejected. */
  readonly maxWaitMs: number;
  /**
   * Returns the number of open connections. With more concurrent callers than that, the pool opens another connection.
   */
  readonly countOpen?: () => number;
  /**
   * How long a caller waits for an open connection before another connection is opened. Opening a connection takes much
   * longer than most statements, and its caches are empty.
   */
  readonly openAfterMs?: number;
  /**
   * The total time that successive callers wait before another connection is opened: about as long as opening it takes.
   * Without this limit, callers that each wait only briefly would keep sharing too few connections.
   */
  readonly openAfterTotalMs?: number;
}

/** Waits that are further apart are not added up, because a mostly idle process needs no additional connection. */
const MAX_WAIT_GAP_MS = 1000;

/**
 * Limits the number of concurrent callers. The driver's pool has a queue too, but only one timeout for waiting and
 * connecting, so a burst of work would look like an unreachable server.
 */
export function createConcurrencyLimiter({
  limit,
  maxWaitMs,
  countOpen,
  openAfterMs = 0,
  openAfterTotalMs = Number.POSITIVE_INFINITY,
}: ConcurrencyOptions): ConcurrencyLimiter {
  const waiting = new Set<() => void>();
  let busy = 0;
  /**
   * The callers' total waiting time since the last connection was opened, and when the last of them stopped waiting.
   */
  let waitedMs = 0;
  let lastWait = Number.NEGATIVE_INFINITY;

  async function wait(): Promise<void> {
    const isFree = busy < Math.min(limit, Math.max(1, countOpen?.() ?? limit));
    if (isFree || (busy < limit && waitedMs >= openAfterTotalMs)) {
      if (!isFree) waitedMs = 0;
      busy += 1;
      return;
    }
    const since = performance.now();
    if (since - lastWait > MAX_WAIT_GAP_MS) waitedMs = 0;
    await new Promise<void>((resolve, reject) => {
      const openTimer = setTimeout(() => {
        if (busy >= limit) return;
        waitedMs = 0;
        busy += 1;
        waiting.delete(proceed);
        proceed();
      }, openAfterMs);
      const timer = setTimeout(() => {
        clearTimeout(openTimer);
        waiting.delete(proceed);
        reject(
          new StoreError(
            'STORE_BUSY',
            `The store is busy: no connection became free within ${maxWaitMs} ms, and ${waiting.size} other calls are waiting. Try again later, or send fewer concurrent requests.`,
          ),
        );
      }, maxWaitMs);
      const proceed = (): void => {
        clearTimeout(openTimer);
        clearTimeout(timer);
        resolve();
      };
      waiting.add(proceed);
    });
    lastWait = performance.now();
    waitedMs += lastWait - since;
  }

  return {
    async run(work) {
      await wait();
      try {
        return await work();
      } finally {
        // The turn passes directly to the next caller, so no other caller can take it in between.
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
