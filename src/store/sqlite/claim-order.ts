import type { OrderStore } from '../../orders/index.js';
import type { Database } from './database.js';
import { readOrder } from './order-row.js';
import { readInteger, readText } from './row-reader.js';

/** Gives out orders to those who do them. */
export function createClaimOrder(database: Database): Pick<OrderStore, 'claimOrder'> {
  const countBusy = database.prepare(COUNT_BUSY);
  const findNext = database.prepare(FIND_NEXT);
  const claim = database.prepare(`
    UPDATE orders SET state = 'claimed', worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?
    WHERE sequence = ? RETURNING *`);
  const findUnresolved = database.prepare(`
    SELECT value FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM issues WHERE issue_ref = value AND state IN ('review', 'done'))
    ORDER BY key`);
  return {
    claimOrder: async ({ worker, leaseMs, now, concurrency, workerTypes }) =>
      database.write(() => {
        const busy = new Map(
          countBusy.all().map((row): [string, number] => [readText(row, 'worker_type'), readInteger(row, 'busy')]),
        );
        const full = Object.entries(concurrency).filter(([type, most]) => (busy.get(type) ?? 0) >= most);
        const next = findNext.get(
          JSON.stringify(full.map(([type]) => type)),
          workerTypes === undefined ? null : JSON.stringify(workerTypes),
        );
        if (next === undefined) return undefined;
        const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
        const row = claim.get(workerId, host, pid, pidStarted, now + leaseMs, readInteger(next, 'sequence'));
        const record = readOrder(row ?? {});
        const unresolved = findUnresolved.all(JSON.stringify(record.order.depends_on ?? []));
        return { record, unresolved: unresolved.map((each) => readText(each, 'value')) };
      }),
  };
}

const COUNT_BUSY = `
  SELECT worker_type, count(*) AS busy FROM orders INDEXED BY orders_busy WHERE state IN ('claimed', 'running') GROUP BY worker_type`;

/**
 * The index is named because SQLite, which does not count rows, would take one that needs sorting. Two orders of one repository run side by side only if both have a worktree of their own.
 */
export const FIND_NEXT = `
  SELECT sequence FROM orders AS waiting INDEXED BY orders_waiting
  WHERE state = 'queued'
    AND worker_type NOT IN (SELECT value FROM json_each(?1))
    AND (?2 IS NULL OR worker_type IN (SELECT value FROM json_each(?2)))
    AND NOT EXISTS (
      SELECT 1 FROM orders AS busy
      WHERE busy.repo_dir = waiting.repo_dir AND busy.state IN ('claimed', 'running')
        AND NOT (busy.isolation = 'worktree' AND waiting.isolation = 'worktree'))
  ORDER BY priority DESC, sequence LIMIT 1`;
