import type { OrderStore } from '../../orders/index.js';
import { QUEUE } from '../wakers.js';
import { addExecution, addMessages } from './settle-order.js';
import { replaceRun } from './submit-order.js';
import { checkOpen, copyOf, openItems, type Tables } from './tables.js';

/** Takes the decisions of people in. */
export function createResolveItem(tables: Tables): Pick<OrderStore, 'resolveItem'> {
  return {
    async resolveItem({ id, now, resolution, state, execution, outbox, retry }) {
      checkOpen(tables);
      const row = tables.inbox.get(id);
      if (row === undefined) return { status: 'not_found' };
      const issue = tables.issues.get(row.record.issue_ref);
      const activeRunId = issue?.record.active_run_id ?? null;
      if (issue === undefined || row.record.resolution !== null || activeRunId !== row.record.run_id) {
        return { status: 'conflict', activeRunId, resolution: copyOf(row.record.resolution) };
      }

      const order = retry === undefined ? undefined : replaceRun(tables, { ...retry, now }, state);
      const recorded = copyOf(order === undefined ? resolution : { ...resolution, new_run_id: order.order.run_id });
      row.record = { ...row.record, resolution: recorded };
      const others = openItems(tables, row.record.issue_ref);
      if (order === undefined) {
        const next = others.length > 0 ? 'needs-human' : state;
        issue.record = { ...issue.record, state: next, updated_at: new Date(now).toISOString() };
      } else {
        for (const other of others) other.record = { ...other.record, resolution: recorded };
      }
      addExecution(tables, execution);
      addMessages(tables, outbox, now);
      tables.wakers.wake(QUEUE);
      const item = copyOf(row.record);
      return order === undefined ? { status: 'resolved', item } : { status: 'resolved', item, order };
    },
  };
}
