/** A rate limit per caller. */
interface RateLimit {
  /** Counts one request; false if the caller has exceeded the limit. */
  take(key: string): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/** The most callers remembered; the least recent is forgotten first. */
const MAX_CALLERS = 10_000;

/**
 * A token bucket per caller: full at first and refilled evenly, so that bursts are fine.
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

  /** The caller's bucket, refilled. */
  function look(key: string): Bucket {
    const now = clock();
    const bucket = buckets.get(key);
    if (bucket === undefined) return { left: perMinute, at: now };
    // A clock set back refills nothing.
    bucket.left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute);
    bucket.at = now;
    return bucket;
  }

  /** Recency is tracked only when the table is half full. */
  function remember(key: string, bucket: Bucket): void {
    if (buckets.size > MAX_CALLERS / 2) buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.size > MAX_CALLERS ? buckets.keys() : [];
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
  };
}
