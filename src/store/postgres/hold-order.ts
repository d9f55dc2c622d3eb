import type { OrderStore } from '../../orders/index.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import type { Context } from './context.js';
import { readOrder } from './order-rows.js';
import { NOTIFY_QUEUE } from './queue.js';

/** Asked to stop before it began. One update with cases, because a submit may ask in the very moment of the start. */
const IS_CANCELED = `cancel_requested AND state = 'claimed'`;

/** What the holder of an order says about it, and what becomes of orders whose holder is gone. */
export function createHoldOrder({
  database,
}: Context): Pick<OrderStore, 'startOrder' | 'renewOrder' | 'releaseExpired'> {
  return {
    async startOrder({ issueRef, runId, workerId, now, pid, pidStarted }) {
      const { rows } = await database.query(
        `WITH held AS (
           UPDATE sluice.orders SET
             state = CASE WHEN ${IS_CANCELED} THEN 'canceled' ELSE 'running' END,
             owner_pid = COALESCE(CASE WHEN ${IS_CANCELED} THEN NULL ELSE $5::bigint END, owner_pid),
             owner_pid_started = CASE WHEN ${IS_CANCELED} OR $5 IS NULL THEN owner_pid_started ELSE $6 END,
             lease_until = CASE WHEN ${IS_CANCELED} THEN NULL ELSE lease_until END,
             started_at = CASE WHEN ${IS_CANCELED} THEN started_at ELSE COALESCE(started_at, $4) END,
             settled_at = CASE WHEN ${IS_CANCELED} THEN $4 ELSE settled_at END
           WHERE issue_ref = $1 AND run_id = $2 AND worker_id = $3 AND state IN ('claimed', 'running')
           RETURNING state
         )
         SELECT state, CASE WHEN state = 'canceled' THEN ${NOTIFY_QUEUE}::text END FROM held`,
        [issueRef, runId, workerId, now, pid, pidStarted],
      );
      return rows[0]?.['state'] === 'running';
    },

    async renewOrder({ issueRef, runId, workerId, now, leaseMs }) {
      const { rows } = await database.query(
        `UPDATE sluice.orders SET lease_until = $4
         WHERE issue_ref = $1 AND run_id = $2 AND worker_id = $3 AND state IN ('claimed', 'running')
         RETURNING cancel_requested`,
        [issueRef, runId, workerId, now + leaseMs],
      );
      if (rows[0] === undefined) return 'lost';
      return rows[0]['cancel_requested'] === true ? 'cancel' : 'held';
    },

    async releaseExpired(now, worker) {
      const { rows } = await database.query(
        `WITH freed AS (
           UPDATE sluice.orders SET
             state = CASE WHEN cancel_requested THEN 'canceled' ELSE 'queued' END,
             settled_at = CASE WHEN cancel_requested THEN $1 ELSE settled_at END,
             worker_id = CASE WHEN cancel_requested THEN worker_id END,
             owner_host = CASE WHEN cancel_requested THEN owner_host END,
             owner_pid = CASE WHEN cancel_requested THEN owner_pid END,
             owner_pid_started = CASE WHEN cancel_requested THEN owner_pid_started END,
             lease_until = NULL
           WHERE state = 'claimed' AND lease_until <= $1 AND worker_id <> $2
           RETURNING state
         ), requeued AS (
           SELECT count(*) AS total FROM freed WHERE state = 'queued'
         )
         SELECT total, CASE WHEN total > 0 THEN ${NOTIFY_QUEUE}::text END FROM requeued`,
        [now, worker.worker_id],
      );
      const { rows: ghosts } = await database.query(
        `SELECT * FROM sluice.orders
         WHERE state = 'running' AND lease_until <= $1 AND worker_id <> $2
         ORDER BY seq LIMIT $3`,
        [now, worker.worker_id, GHOSTS_AT_ONCE],
      );
      return { requeued: Number(rows[0]?.['total']), ghosts: ghosts.map(readOrder) };
    },
  };
}
