import type { OrderHold, OrderStore } from '../../orders/index.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readOrder } from './order-row.js';

/** What the holder of an order says about it, and what becomes of orders whose holder is gone. */
export function createHoldOrder(
  database: Database,
  wakers: Wakers,
): Pick<OrderStore, 'startOrder' | 'renewOrder' | 'releaseExpired'> {
  const findHeld = database.prepare(`
    SELECT * FROM orders WHERE issue_ref = ? AND run_id = ? AND worker_id = ? AND state IN ('claimed', 'running')`);
  const start = database.prepare(`
    UPDATE orders SET state = 'running', started_at = coalesce(started_at, ?1),
      pid = coalesce(?2, pid), pid_started = CASE WHEN ?2 IS NULL THEN pid_started ELSE ?3 END
    WHERE issue_ref = ?4 AND run_id = ?5`);
  const cancel = database.prepare(`
    UPDATE orders SET state = 'canceled', lease_until = NULL, settled_at = ? WHERE issue_ref = ? AND run_id = ?`);
  const renew = database.prepare('UPDATE orders SET lease_until = ? WHERE issue_ref = ? AND run_id = ?');
  const cancelExpired = database.prepare(`
    UPDATE orders SET state = 'canceled', lease_until = NULL, settled_at = ?1
    WHERE state = 'claimed' AND cancel_requested = 1 AND lease_until <= ?1 AND worker_id <> ?2`);
  const requeueExpired = database.prepare(`
    UPDATE orders SET state = 'queued', lease_until = NULL, worker_id = NULL, host = NULL, pid = NULL, pid_started = NULL
    WHERE state = 'claimed' AND lease_until <= ?1 AND worker_id <> ?2`);
  const findGhosts = database.prepare(`
    SELECT * FROM orders WHERE state = 'running' AND lease_until <= ? AND worker_id <> ? ORDER BY sequence LIMIT ?`);

  function findOwn({ issueRef, runId, workerId }: OrderHold): SqlRow | undefined {
    return findHeld.get(issueRef, runId, workerId);
  }

  return {
    async startOrder({ pid, pidStarted, ...hold }) {
      const started = await database.write(() => {
        const row = findOwn(hold);
        if (row === undefined) return 'lost';
        if (row['state'] === 'claimed' && row['cancel_requested'] === 1) {
          cancel.run(hold.now, hold.issueRef, hold.runId);
          return 'canceled';
        }
        start.run(hold.now, pid, pidStarted, hold.issueRef, hold.runId);
        return 'started';
      });
      if (started === 'canceled') wakers.wake(QUEUE);
      return started === 'started';
    },

    renewOrder: async ({ leaseMs, ...hold }) =>
      database.write(() => {
        const row = findOwn(hold);
        if (row === undefined) return 'lost';
        renew.run(hold.now + leaseMs, hold.issueRef, hold.runId);
        return row['cancel_requested'] === 1 ? 'cancel' : 'held';
      }),

    async releaseExpired(now, { worker_id: workerId }) {
      const released = await database.write(() => {
        cancelExpired.run(now, workerId);
        const requeued = Number(requeueExpired.run(now, workerId).changes);
        return { requeued, ghosts: findGhosts.all(now, workerId, GHOSTS_AT_ONCE).map(readOrder) };
      });
      if (released.requeued > 0) wakers.wake(QUEUE);
      return released;
    },
  };
}
