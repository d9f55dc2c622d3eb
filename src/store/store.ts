import type {
  CacheLimits,
  OrderStore,
  OutboxStore,
  ResultCache,
  RunClaim,
  RunStore,
  StoreClock,
  WatchableEventLog,
} from './ports/index.js';
import type { Budgets } from './budgets.js';
import type { JobLeases } from './job-leases.js';
import type { Fleet } from './fleet.js';
import type { Retention } from './retention.js';
import type { Statistics } from './statistics.js';
import type { Maintenance } from './maintenance.js';

/** Everything that runs and orders need from a store. */
export interface Store
  extends
    OrderStore,
    OutboxStore,
    RunStore,
    WatchableEventLog,
    ResultCache,
    QueueNotifications,
    Maintenance,
    Retention,
    Statistics,
    Fleet,
    JobLeases,
    Budgets,
    StoreClock {
  /** Closes files and connections. Every later call fails with `STORE_CLOSED`; closing twice is harmless. */
  close(): Promise<void>;
}

/** Wakes workers when work might be available. */
export interface QueueNotifications {
  /**
   * Calls back when an order, a run or a message might have become due, until the returned function is called. A late,
   * repeated or unnecessary call is harmless, because the worker must claim the work anyway.
   */
  watchQueue(wake: (work?: QueueWork) => void, watcher?: QueueWatcher): () => void;
}

/** The work that wakes a worker: runs to claim, or messages to deliver. If omitted, both. */
export type QueueWork = 'runs' | 'messages';

/** A watcher and the runs it accepts, so a run wakes one worker instead of all. */
export interface QueueWatcher extends Pick<RunClaim, 'kinds' | 'workerTypes'> {
  /** The name that its claims pass as `watcher`. */
  readonly worker?: string;
}

/** Options for opening a store. */
export interface StoreOptions {
  /** The size of the result cache; the oldest entries are deleted first. */
  readonly cache?: CacheLimits;
  /** How many runs or issues one search page reads; 10,000 by default. */
  readonly searchWindow?: number;
  /**
   * The maximum number of PostgreSQL connections, besides the connection for notifications: from 2 to 1,000, 10 by
   * default.
   */
  readonly pool?: number;
}
