import { setLatest } from '../../base/index.js';

/** The maximum number of callers with a bucket; the least recent caller's bucket is removed first. */
const MAX_CALLERS = 10_000;

/**
 * Creates a token bucket per caller. Buckets start full and are refilled evenly, so bursts are allowed.
 *
 * @example
 * const limit = createRateLimit({ perMinute: 60, clock: Date.now })
 * limit.take('ada') // true for the first sixty calls, then once a second
 */
export function createRateLimit({ perMinute, clock }: { readonly perMinute: number; readonly clock: () => number }) {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();

  return {
    /** Counts one request; false if the caller has exceeded the limit. */
    take(key: string): boolean {
      const now = clock();
      const { left, at } = buckets.get(key) ?? { left: perMinute, at: now };
      // If the clock was set back, nothing is refilled.
      const refilled = Math.min(perMinute, left + (Math.max(0, now - at) / 60_000) * perMinute);
      const isAllowed = refilled >= 1;
      setLatest(buckets, MAX_CALLERS, key, { left: isAllowed ? refilled - 1 : refilled, at: now });
      return isAllowed;
    },
  };
}
