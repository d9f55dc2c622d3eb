import type { ExecutionRecord, InboxItem, NewOutboxMessage } from '../../records/index.js';
import type { OrderStore } from '../../orders/index.js';
import { orderNotFound } from '../refusals.js';
import { QUEUE } from '../wakers.js';
import { checkOpen, closeOrder, copyOf, endRow, orderKey, type Tables } from './tables.js';

/** Settles orders. */
export function createSettleOrder(tables: Tables): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder({ issueRef, runId, now, runResult, active, stale }) {
      checkOpen(tables);
      const row = tables.orders.get(orderKey(issueRef, runId));
      const issue = tables.issues.get(issueRef);
      if (row === undefined || issue === undefined) throw orderNotFound(issueRef, runId);
      if (row.record.decision !== null) return { decision: copyOf(row.record.decision), repeated: true };

      const at = new Date(now).toISOString();
      const isActive = issue.record.active_run_id === runId;
      const { decision, result, execution } = isActive ? active : stale;
      closeOrder(tables, row, { settled_at: at, decision, result });
      const run = tables.runs.get(row.record.run);
      if (run !== undefined && run.record.state !== 'ended') endRow(run, runResult, now);
      addExecution(tables, execution);
      if (isActive) {
        const state = issue.record.state === 'needs-human' ? 'needs-human' : active.state;
        issue.record = { ...issue.record, state, updated_at: at };
        if (active.item !== null) addItem(tables, active.item);
        addMessages(tables, active.outbox, now);
      }
      tables.wakers.wake(QUEUE);
      return { decision: copyOf(decision), repeated: false };
    },
  };
}

/** Adds an execution; a row that is there stays as it is. */
export function addExecution(tables: Tables, execution: ExecutionRecord): void {
  if (tables.executions.has(execution.id)) return;
  tables.executions.set(execution.id, { sequence: tables.executions.size + 1, record: copyOf(execution) });
}

/** Adds to the inbox; an item that is there stays as it is. */
export function addItem(tables: Tables, item: InboxItem): void {
  if (tables.inbox.has(item.id)) return;
  tables.inbox.set(item.id, { sequence: tables.inbox.size + 1, record: copyOf(item) });
}

/** Queues messages; one with the same sink, issue and trigger is there already and stays as it is. */
export function addMessages(tables: Tables, messages: readonly NewOutboxMessage[], now: number): void {
  for (const { id, sink, issue_ref, trigger, body } of messages) {
    const key = JSON.stringify([sink, issue_ref, trigger]);
    if (tables.outboxKeys.has(key)) continue;
    tables.outboxKeys.add(key);
    tables.outbox.set(id, {
      sequence: tables.outboxKeys.size,
      workerId: null,
      record: {
        id,
        sink,
        issue_ref,
        trigger,
        body,
        state: 'waiting',
        tries: 0,
        due_at: now,
        lease_until: null,
        last_error: null,
        delivered_to: null,
        created_at: new Date(now).toISOString(),
      },
    });
  }
}
