import type { OrderStore, OutboxStore } from '../orders/index.js';
import type { CacheLimits, ResultCache, RunStore, WatchableEventLog } from '../runs/index.js';
import type { Statistics } from './statistics.js';
import type { Upkeep } from './upkeep.js';

/** Everything that runs and orders ask of a store, behind one connection. */
export interface Store
  extends OrderStore, OutboxStore, RunStore, WatchableEventLog, ResultCache, QueueWatch, Upkeep, Statistics {
  /** Lets go of files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}

/** Tells those who take work that there may be some. */
export interface QueueWatch {
  /**
   * Calls back when an order, a run or a message may have become due, until the returned function is called. It only
   * wakes: a call that is late, doubled or for nothing changes nothing, because the claim decides.
   */
  watchQueue(wake: () => void): () => void;
}

/** What can be chosen about a store. */
export interface StoreOptions {
  /** How much the result cache keeps; the oldest entries go first. */
  readonly cache?: CacheLimits;
  /** How many runs or issues one page of a search looks at; 10,000 by default. */
  readonly searchWindow?: number;
}
