import type { OrderStore } from '../orders/ports/order-store.js';
import type { OutboxStore } from '../orders/ports/outbox-store.js';
import type { WatchableEventLog } from '../runs/ports/event-log.js';
import type { ResultCache } from '../runs/ports/result-cache.js';
import type { RunRecords } from '../runs/ports/run-records.js';
import type { QueueWatch } from './queue-watch.js';
import type { Statistics } from './statistics.js';
import type { Upkeep } from './upkeep.js';

/** Everything that runs and orders ask of a store, behind one connection. */
export interface Store
  extends OrderStore, OutboxStore, RunRecords, WatchableEventLog, ResultCache, QueueWatch, Upkeep, Statistics {
  /** Lets go of files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}
