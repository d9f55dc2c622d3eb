/** How much a cache of results may hold. An entry larger than all of it is not kept. */
export interface CacheLimits {
  readonly entries?: number;
  /** All entries together, as text. */
  readonly bytes?: number;
}

/** Results are small: a thousand of them are found again long after the work has moved on, and fit into memory. */
export const CACHE_LIMITS: Readonly<Required<CacheLimits>> = { entries: 1000, bytes: 64 * 1024 * 1024 };
