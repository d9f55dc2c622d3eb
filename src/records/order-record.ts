import type { Decision } from './decision.js';
import type { WorkOrder } from './work-order.js';
import type { WorkResult } from './work-result.js';

/** How far an order has come. `canceled`: another run took its place before it was claimed. */
export type OrderState = 'queued' | 'running' | 'settled' | 'canceled';

/** One order, as the store keeps it; issue and run id together name it. Claim, lease and cancellation are its run's. */
export interface OrderRecord {
  readonly order: WorkOrder;
  /** The run that carries the order; names the run folder. */
  readonly run: string;
  readonly worker_type: string;
  readonly state: OrderState;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly settled_at: string | null;
  readonly decision: Decision | null;
  /** What the worker reported, as it was settled; null if nothing could be read. */
  readonly result: WorkResult | null;
}
