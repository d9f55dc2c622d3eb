import type { Logger } from '../base/index.js';
import type { Lead } from '../orders/index.js';
import type { RunPorts } from '../runs/index.js';
import type { Store } from '../store/index.js';

/** What everything a worker executes has in common. */
export interface WorkContext {
  readonly store: Store;
  readonly lead: Lead;
  readonly runs: RunPorts;
  readonly leaseMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Aborted when the worker has no more time. */
  readonly signal: AbortSignal;
}
