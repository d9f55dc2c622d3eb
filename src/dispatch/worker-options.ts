import type { Lead } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { RunPorts } from '../runs/index.js';
import type { Store } from '../store/index.js';

/** How long a claim holds without a sign of life, unless told otherwise. */
export const DEFAULT_LEASE_MS = 30_000;

/** What a worker needs, and how much it takes on. */
export interface WorkerOptions {
  readonly store: Store;
  readonly lead: Lead;
  /** What its runs need; their events and kept results go to the store. */
  readonly runs: RunPorts;
  /** How many orders and runs it does at once; 4 by default. */
  readonly concurrency?: number;
  /** How many orders of a worker type may run at once, over all workers. */
  readonly concurrencyByType?: Readonly<Record<string, number>>;
  /** Only orders of these types; all by default. */
  readonly workerTypes?: readonly string[];
  /** `orders` or `runs` alone; both by default. */
  readonly takes?: readonly ('orders' | 'runs')[];
  /** How long a claim holds without a sign of life; 30 seconds by default. */
  readonly leaseMs?: number;
  /** How long it sleeps at most before it looks again, if nobody wakes it; 1 second by default. */
  readonly pollMs?: number;
  /** How often it puts in order what others left; every lease by default. */
  readonly reconcileMs?: number;
  readonly clock?: () => number;
  readonly newId?: () => string;
  readonly logger?: Logger;
}

/** A worker that was started. */
export interface Worker {
  readonly id: string;
  /** How many orders and runs it is doing now. */
  readonly busy: number;
  /** Looks for work now. */
  wake(): void;
  /**
   * Takes nothing more, waits for what it does, delivers what that left to say. With `graceMs` what is not done by then is
   * stopped: such orders go to a person, such runs end as canceled.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}
