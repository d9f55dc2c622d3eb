import { RequestError } from './problem.js';

/** Limits how many requests are handled at once. */
export interface Gate {
  /** Returns what to call on leaving (repeated calls are ignored); undefined if it is full. */
  enter(): (() => void) | undefined;
}

/** Creates a gate for `most` requests at once. */
export function createGate(most: number): Gate {
  let inside = 0;
  return {
    enter() {
      if (inside >= most) return undefined;
      inside += 1;
      let hasLeft = false;
      return () => {
        if (!hasLeft) inside -= 1;
        hasLeft = true;
      };
    },
  };
}

/** Limits how long requests may take. */
export interface Deadlines {
  /** The result of `work`, or `REQUEST_TIMED_OUT`. What it started is not undone. */
  within<T>(work: Promise<T>): Promise<T>;
}

interface Waiting {
  readonly until: number;
  readonly giveUp: (error: unknown) => void;
}

/** Checks per limit: a time-out is at most a tenth late. */
const CHECKS = 10;

/**
 * One timer for all pending requests: one for each would cost more than most responses take. It stops while there are
 * none.
 */
export function createDeadlines(ms: number): Deadlines {
  /** In the order in which they started, which is also the order of their deadlines. */
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const now = performance.now();
    for (const one of waiting) {
      if (one.until > now) break;
      waiting.delete(one);
      one.giveUp(
        new RequestError('REQUEST_TIMED_OUT', `The request took longer than ${ms / 1000} seconds. Try again.`),
      );
    }
    timer = waiting.size === 0 ? undefined : setTimeout(check, ms / CHECKS);
  }

  return {
    within<T>(work: Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const one: Waiting = { until: performance.now() + ms, giveUp: reject };
        const end = (value: T) => {
          waiting.delete(one);
          resolve(value);
        };
        const fail = (error: unknown) => {
          waiting.delete(one);
          reject(error);
        };
        waiting.add(one);
        timer ??= setTimeout(check, ms / CHECKS);
        work.then(end, fail);
      });
    },
  };
}
