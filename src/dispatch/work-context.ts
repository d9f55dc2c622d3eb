import type { Lead } from '../orders/lead/create-lead.js';
import type { Logger } from '../runs/logger/logger.js';
import type { RunPorts } from '../runs/ports/run-ports.js';
import type { Store } from '../store/store.js';

/** What all work of one worker shares. */
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
