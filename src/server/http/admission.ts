import { RequestError } from './problem.js';

/** A limit that callers share: places, or bytes. */
export interface Budget {
  /** The share of one request of a caller. */
  open(key: string): Share;
}

/** The part of a budget that one request holds. */
export interface Share {
  /** Takes more; false, and takes nothing, if there is not enough. */
  grow(amount: number): boolean;
  /** Returns everything; repeated calls are ignored. */
  release(): void;
}

/**
 * Creates a budget. A caller may take as much as it leaves for others: the first one half of it, the next one half of the
 * rest. So a caller that takes what it can get does not lock out the others. The first request of a caller may take all.
 */
export function createBudget(most: number): Budget {
  const byKey = new Map<string, number>();
  let used = 0;

  function take(key: string, amount: number): boolean {
    const own = byKey.get(key) ?? 0;
    const left = most - used - amount;
    if (left < 0 || (own > 0 && own + amount > left)) return false;
    used += amount;
    byKey.set(key, own + amount);
    return true;
  }

  function releaseAmount(key: string, amount: number): void {
    used -= amount;
    const own = (byKey.get(key) ?? 0) - amount;
    if (own > 0) byKey.set(key, own);
    else byKey.delete(key);
  }

  return {
    open(key) {
      let taken = 0;
      return {
        grow(amount) {
          if (!take(key, amount)) return false;
          taken += amount;
          return true;
        },
        release() {
          if (taken > 0) releaseAmount(key, taken);
          taken = 0;
        },
      };
    },
  };
}

/** Limits how many requests are handled at once. */
export interface Gate {
  /** Returns what to call on leaving (repeated calls are ignored); undefined if the caller has its share. */
  enter(key: string): (() => void) | undefined;
}

/** Creates a gate for `most` requests at once. */
export function createGate(most: number): Gate {
  const places = createBudget(most);
  return {
    enter(key) {
      const share = places.open(key);
      return share.grow(1) ? () => share.release() : undefined;
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
  readonly reject: (error: unknown) => void;
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
      one.reject(
        new RequestError('REQUEST_TIMED_OUT', `The request took longer than ${ms / 1000} seconds. Try again.`),
      );
    }
    timer = waiting.size === 0 ? undefined : setTimeout(check, ms / CHECKS);
  }

  return {
    within<T>(work: Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const one: Waiting = { until: performance.now() + ms, reject };
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
