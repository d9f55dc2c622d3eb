import type { OrderStore } from '../../orders/index.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { readOrder } from './order-rows.js';

/** Claims go one after the other, on all machines: only so can each count what the others have taken. */
const CLAIM_LOCK = 758_424;

/** Gives out orders to those who do them. */
export function createClaimOrder({ database }: Context): Pick<OrderStore, 'claimOrder'> {
  return {
    claimOrder: ({ worker, leaseMs, now, concurrency, workerTypes }) =>
      database.transaction(async (transaction) => {
        // In a statement of its own: the next one must see what the claim before this one has written.
        await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [CLAIM_LOCK]);
        const limits = Object.entries(concurrency);
        const { rows } = await transaction.query(CLAIM, [
          worker.worker_id,
          worker.host,
          worker.pid,
          worker.pid_started,
          now + leaseMs,
          workerTypes ?? null,
          limits.map(([type]) => type),
          limits.map(([, limit]) => limit),
        ]);
        if (rows[0] === undefined) return undefined;
        const record = readOrder(rows[0]);
        return { record, unresolved: await findUnresolved(transaction, record.order.depends_on ?? []) };
      }),
  };
}

/** Two orders of one repository run side by side only if both have a worktree of their own. */
const CLAIM = `
  WITH busy AS MATERIALIZED (
    SELECT worker_type, repo_dir, isolation FROM sluice.orders WHERE state IN ('claimed', 'running')
  ), full_types AS MATERIALIZED (
    SELECT type FROM unnest($7::text[], $8::double precision[]) AS limits (type, most)
    WHERE (SELECT count(*) FROM busy WHERE busy.worker_type = type) >= most
  ), next AS (
    SELECT seq FROM sluice.orders AS queued
    WHERE state = 'queued'
      AND ($6::text[] IS NULL OR worker_type = ANY ($6))
      AND worker_type NOT IN (SELECT type FROM full_types)
      AND NOT EXISTS (
        SELECT FROM busy
        WHERE busy.repo_dir = queued.repo_dir AND NOT (busy.isolation = 'worktree' AND queued.isolation = 'worktree')
      )
    ORDER BY priority DESC, seq
    LIMIT 1
    FOR UPDATE SKIP LOCKED
  )
  UPDATE sluice.orders
  SET state = 'claimed', worker_id = $1, owner_host = $2, owner_pid = $3, owner_pid_started = $4, lease_until = $5
  FROM next
  WHERE orders.seq = next.seq
  RETURNING orders.*`;

async function findUnresolved(transaction: Queryable, dependencies: readonly string[]): Promise<string[]> {
  if (dependencies.length === 0) return [];
  const { rows } = await transaction.query(
    `SELECT issue_ref FROM sluice.issues WHERE issue_ref = ANY ($1) AND state IN ('review', 'done')`,
    [dependencies],
  );
  const resolved = new Set(rows.map((row) => row['issue_ref']));
  return dependencies.filter((issueRef) => !resolved.has(issueRef));
}
