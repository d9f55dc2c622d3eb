interface Bucket {
  left: number;
  at: number;
}

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
  const buckets = new Map<string, Bucket>();

  function refill(key: string): Bucket {
    const now = clock();
    const bucket = buckets.get(key);
    if (bucket === undefined) return { left: perMinute, at: now };
    // If the clock was set back, nothing is refilled.
    bucket.left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute);
    bucket.at = now;
    return bucket;
  }

  /** Stores a bucket. The order of use is tracked only if the table is more than half full. */
  function storeBucket(key: string, bucket: Bucket): void {
    if (buckets.size > MAX_CALLERS / 2) buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.size > MAX_CALLERS ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
  }

  return {
    /** Counts one request; false if the caller has exceeded the limit. */
    take(key: string): boolean {
      const bucket = refill(key);
      storeBucket(key, bucket);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
  };
}
