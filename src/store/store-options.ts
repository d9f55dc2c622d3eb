import type { CacheLimits } from '../runs/index.js';

/** What can be chosen about a store. */
export interface StoreOptions {
  /** How much the result cache keeps; the oldest entries go first. */
  readonly cache?: CacheLimits;
  /** How many runs or issues one page of a search looks at; 10,000 by default. */
  readonly searchWindow?: number;
}
