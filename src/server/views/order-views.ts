import type { InboxItemView, IssueView, OrderView, OutboxMessageView } from '../../api/index.js';
import type { InboxItem, IssueRecord, OrderRecord, OutboxMessage } from '../../records/index.js';

/** An order as its caller sees it. */
export function viewOrder(record: OrderRecord): OrderView {
  const { order, run, worker_type, state, created_at, started_at, settled_at, decision, result } = record;
  return {
    issue_ref: order.issue_ref,
    run_id: order.run_id,
    run,
    worker: order.worker,
    worker_type,
    state,
    order: { ...order },
    created_at,
    started_at,
    settled_at,
    decision:
      decision === null
        ? null
        : { action: decision.action, reason: decision.reason, result_code: decision.result_code, next: decision.next },
    result: result === null ? null : { ...result },
  };
}

/** An issue as its caller sees it. */
export function viewIssue({ issue_ref, state, active_run_id, updated_at }: IssueRecord): IssueView {
  return { issue_ref, state, active_run_id, updated_at };
}

/** What waits for a person, with the evidence. */
export function viewItem({ reading, resolution, ...item }: InboxItem): InboxItemView {
  return {
    ...item,
    reading: { ...reading },
    resolution: resolution === null ? null : { ...resolution },
  };
}

/** A comment on its way. */
export function viewMessage({ lease_until: _, ...message }: OutboxMessage): OutboxMessageView {
  return message;
}
