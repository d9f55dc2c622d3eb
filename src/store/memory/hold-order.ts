import type { OrderRecord } from '../../records/index.js';
import type { OrderHold, OrderStore } from '../../orders/index.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { QUEUE } from '../wakers.js';
import { checkOpen, copyOf, orderKey, replaceOrder, type Row, type Tables } from './tables.js';

/** What the holder of an order says about it, and what becomes of orders whose holder is gone. */
export function createHoldOrder(tables: Tables): Pick<OrderStore, 'startOrder' | 'renewOrder' | 'releaseExpired'> {
  return {
    async startOrder({ pid, pidStarted, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      const owner = row?.record.owner ?? null;
      if (row === undefined || owner === null) return false;
      const at = new Date(hold.now).toISOString();
      if (row.record.cancel_requested && row.record.state === 'claimed') {
        replaceOrder(tables, row, { state: 'canceled', lease_until: null, settled_at: at });
        tables.wakers.wake(QUEUE);
        return false;
      }
      replaceOrder(tables, row, {
        state: 'running',
        owner: pid === null ? owner : { ...owner, pid, pid_started: pidStarted },
        started_at: row.record.started_at ?? at,
      });
      return true;
    },

    async renewOrder({ leaseMs, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined) return 'lost';
      const { cancel_requested: isCanceled } = replaceOrder(tables, row, { lease_until: hold.now + leaseMs });
      return isCanceled ? 'cancel' : 'held';
    },

    async releaseExpired(now, worker) {
      checkOpen(tables);
      let requeued = 0;
      const ghosts: OrderRecord[] = [];
      for (const row of tables.openOrders) {
        const { record } = row;
        const isOver = record.lease_until !== null && record.lease_until <= now;
        if (!isOver || record.owner?.worker_id === worker.worker_id) continue;
        if (record.state === 'running') {
          if (ghosts.length < GHOSTS_AT_ONCE) ghosts.push(copyOf(record));
        } else if (record.cancel_requested) {
          replaceOrder(tables, row, { state: 'canceled', lease_until: null, settled_at: new Date(now).toISOString() });
        } else {
          replaceOrder(tables, row, { state: 'queued', owner: null, lease_until: null });
          requeued += 1;
        }
      }
      if (requeued > 0) tables.wakers.wake(QUEUE);
      return { requeued, ghosts };
    },
  };
}

function findHeld(tables: Tables, hold: OrderHold): Row<OrderRecord> | undefined {
  const row = tables.orders.get(orderKey(hold.issueRef, hold.runId));
  const isHeld =
    row?.record.owner?.worker_id === hold.workerId &&
    (row.record.state === 'claimed' || row.record.state === 'running');
  return isHeld ? row : undefined;
}
