import type { OrderView } from '../../api/index.js';
import type { OrderRecord } from '../../records/index.js';

/** An order without its claim. */
export function viewOrder(record: OrderRecord): OrderView {
  const { order, run, worker_type, state, created_at, started_at, settled_at, decision, result } = record;
  const { issue_ref, run_id, worker } = order;
  return {
    issue_ref,
    run_id,
    run,
    worker,
    worker_type,
    state,
    order,
    created_at,
    started_at,
    settled_at,
    decision,
    result,
  };
}
