/** How often each of many callers may do something. */
export interface RateLimit {
  /** Takes one; false if the caller has to wait. */
  take(key: string): boolean;
  /** Whether the caller could take one now. */
  isOpen(key: string): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/** So many callers are remembered; the one not heard of for longest is forgotten first. */
const MOST_CALLERS = 10_000;

/**
 * A bucket for each caller: full at first, refilled evenly, so that a burst is fine and a flood is not.
 *
 * @example
 * const limit = createRateLimit({ perMinute: 60, clock: Date.now })
 * limit.take('ada') // true, sixty times at once, then once a second
 */
export function createRateLimit({
  perMinute,
  clock,
}: {
  readonly perMinute: number;
  readonly clock: () => number;
}): RateLimit {
  const buckets = new Map<string, Bucket>();

  /** The caller's bucket as it is now. */
  function look(key: string): Bucket {
    const now = clock();
    const bucket = buckets.get(key);
    if (bucket === undefined) return { left: perMinute, at: now };
    // A clock that was set back refills nothing.
    bucket.left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute);
    bucket.at = now;
    return bucket;
  }

  /** The order in which callers were last heard of matters only when some are to be forgotten soon. */
  function remember(key: string, bucket: Bucket): void {
    if (buckets.size > MOST_CALLERS / 2) buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.size > MOST_CALLERS ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
  }

  return {
    take(key) {
      const bucket = look(key);
      remember(key, bucket);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
    isOpen: (key) => look(key).left >= 1,
  };
}
