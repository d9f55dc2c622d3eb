/** What can be chosen about a store. */
export interface StoreOptions {
  /** How much the result cache keeps; the oldest entries go first. */
  readonly cache?: Partial<CacheLimits>;
  /** How many runs or issues one page of a search looks at; 10,000 by default. */
  readonly searchWindow?: number;
}

/** The bounds of the result cache. An entry larger than all of it is not kept. */
export interface CacheLimits {
  readonly entries: number;
  /** Of the entries as JSON text. */
  readonly bytes: number;
}

/** Results are small; a thousand of them are found again long after the work has moved on. */
export const CACHE_LIMITS: CacheLimits = { entries: 1000, bytes: 64 * 1024 * 1024 };
