import type { OrderStore, OutboxStore } from '../orders/index.js';
import type { ResultCache, RunStore, WatchableEventLog } from '../runs/index.js';
import type { QueueWatch } from './queue-watch.js';
import type { Statistics } from './statistics.js';
import type { Upkeep } from './upkeep.js';

/** Everything that runs and orders ask of a store, behind one connection. */
export interface Store
  extends OrderStore, OutboxStore, RunStore, WatchableEventLog, ResultCache, QueueWatch, Upkeep, Statistics {
  /** Lets go of files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}
