import type { Decision, ExecutionRecord, InboxItem, NewOutboxMessage } from '../../records/index.js';
import type { OrderStore } from '../../orders/index.js';
import { orderNotFound } from '../refusals.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import { END_RUN } from './claim-run.js';
import { readJsonOrNull, readText } from './row-reader.js';
import { createRunDigests } from './run-digests.js';

/** A settlement that must leave no trace, because the order has been decided. */
class DecidedBefore extends Error {}

/** Settles orders. */
export function createSettleOrder(database: Database, wakers: Wakers): Pick<OrderStore, 'settleOrder'> {
  const fence = database.prepare(SETTLE_FENCE);
  const settle = database.prepare(SETTLE_ORDER);
  const findDecision = database.prepare('SELECT decision FROM orders WHERE issue_ref = ? AND run_id = ?');
  const endRun = database.prepare(END_RUN);
  const digests = createRunDigests(database);
  const rows = createDecisionRows(database);

  return {
    async settleOrder({ issueRef, runId, now, runResult, active, stale }) {
      try {
        const decision = await database.write(() => {
          const isActive = Number(fence.run(active.state, now, issueRef, runId).changes) === 1;
          const chosen = isActive ? active : stale;
          const result = chosen.result === null ? null : JSON.stringify(chosen.result);
          const settled = settle.get(JSON.stringify(chosen.decision), result, now, issueRef, runId);
          if (settled === undefined) throw new DecidedBefore();
          const run = readText(settled, 'run');
          if (Number(endRun.run(now, JSON.stringify(runResult), run).changes) === 1) digests.close(run, runResult);
          rows.addExecution(chosen.execution);
          if (isActive) {
            if (active.item !== null) rows.addItem(active.item);
            for (const message of active.outbox) rows.addMessage(message, now);
          }
          return chosen.decision;
        });
        wakers.wake(QUEUE);
        return { decision, repeated: false };
      } catch (error) {
        if (!(error instanceof DecidedBefore)) throw error;
      }
      const row = await database.read(() => findDecision.get(issueRef, runId));
      const decision = row === undefined ? null : (readJsonOrNull(row, 'decision') as Decision | null);
      if (decision === null) throw orderNotFound(issueRef, runId);
      return { decision, repeated: true };
    },
  };
}

/** The first statement: only the active run moves its issue, and nothing but a person moves it out of `needs-human`. */
export const SETTLE_FENCE = `
  UPDATE issues SET state = CASE state WHEN 'needs-human' THEN state ELSE ? END, updated_at = ?
  WHERE issue_ref = ? AND active_run_id = ?`;

/** The second: an order is decided once. */
export const SETTLE_ORDER = `
  UPDATE orders SET decision = ?, result = ?, settled_at = ?
  WHERE issue_ref = ? AND run_id = ? AND decision IS NULL RETURNING run`;

const ADD_EXECUTION = `
  INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;

const ADD_ITEM = `
  INSERT INTO inbox (id, issue_ref, run_id, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const ADD_MESSAGE = `
  INSERT INTO outbox (id, sink, issue_ref, trigger_key, body, state, due_at, created_at)
  VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?) ON CONFLICT DO NOTHING`;

/** Adds the rows that follow from a decision, inside a transaction; what is there already stays as it is. */
export function createDecisionRows(database: Database): {
  addExecution(execution: ExecutionRecord): void;
  addItem(item: InboxItem): void;
  addMessage(message: NewOutboxMessage, now: number): void;
} {
  const execution = database.prepare(ADD_EXECUTION);
  const item = database.prepare(ADD_ITEM);
  const message = database.prepare(ADD_MESSAGE);
  return {
    addExecution(added) {
      const { id, issue_ref: issueRef, run_id: runId, worker, decision, at } = added;
      execution.run(id, issueRef, runId, worker, decision, at, JSON.stringify(added));
    },
    addItem(added) {
      item.run(added.id, added.issue_ref, added.run_id, JSON.stringify(added));
    },
    addMessage({ id, sink, issue_ref: issueRef, trigger, body }, now) {
      message.run(id, sink, issueRef, trigger, JSON.stringify(body), now, now);
    },
  };
}
