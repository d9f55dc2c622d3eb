import type { Decision } from './decision.js';
import type { WorkOrder } from './work-order.js';
import type { WorkResult } from './work-result.js';

/** How far an order has come. `canceled`: another run took its place before it began. */
export type OrderState = 'queued' | 'claimed' | 'running' | 'settled' | 'canceled';

/** Who does the work: enough to find out, after a crash, whether it is still there. */
export interface WorkerIdentity {
  /** Unique per claim: one process may hold several. */
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  /** When the process started, as the system tells it; a pid alone is used again. */
  readonly pid_started: string | null;
}

/** One order, as the store keeps it; issue and run id together name it. */
export interface OrderRecord {
  readonly order: WorkOrder;
  /** The ULID of the run: names the run folder. */
  readonly run: string;
  readonly worker_type: string;
  readonly state: OrderState;
  readonly owner: WorkerIdentity | null;
  /** Milliseconds since 1970; the claim is void afterwards. */
  readonly lease_until: number | null;
  /** Set when another run has taken its place: the owner stops it. */
  readonly cancel_requested: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly settled_at: string | null;
  readonly decision: Decision | null;
  /** What the worker reported, as it was settled; null if nothing could be read. */
  readonly result: WorkResult | null;
}
