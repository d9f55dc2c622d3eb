import { RequestError } from './request-error.js';

/** Gives up on what takes too long. */
export interface Deadlines {
  /** What `work` comes to, or `REQUEST_TIMED_OUT`. What it had begun is not undone. */
  within<T>(work: Promise<T>): Promise<T>;
}

interface Waiting {
  readonly until: number;
  readonly giveUp: (error: unknown) => void;
}

/** How late somebody may be told. */
const LOOKS = 10;

/**
 * One clock for all requests that are under way: a timer for each would cost more than most answers take. It stands still
 * while there are none.
 */
export function createDeadlines(ms: number): Deadlines {
  /** In the order in which they began, and so in which they end. */
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    for (const one of waiting) {
      if (one.until > now) break;
      waiting.delete(one);
      one.giveUp(new RequestError('REQUEST_TIMED_OUT', `It takes longer than ${ms / 1000} seconds. Try again.`));
    }
    timer = waiting.size === 0 ? undefined : setTimeout(look, ms / LOOKS);
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
        timer ??= setTimeout(look, ms / LOOKS);
        work.then(end, fail);
      });
    },
  };
}
