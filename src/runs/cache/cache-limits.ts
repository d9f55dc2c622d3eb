/** How much a cache may hold. */
export interface CacheLimits {
  readonly entries?: number;
  /** All entries together. */
  readonly bytes?: number;
}

/** A thousand results, a quarter of a gigabyte: a result is text that a model wrote. */
export const CACHE_LIMITS: Readonly<Required<CacheLimits>> = { entries: 1000, bytes: 256 * 1024 * 1024 };
