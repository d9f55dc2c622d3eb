import type { OrderRecord } from '../../records/index.js';
import type { OrderStore } from '../../orders/index.js';
import { checkOpen, copyOf, replaceOrder, type Row, type Tables } from './tables.js';

/** Gives out orders to those who do them. */
export function createClaimOrder(tables: Tables): Pick<OrderStore, 'claimOrder'> {
  return {
    async claimOrder({ worker, leaseMs, now, concurrency, workerTypes }) {
      checkOpen(tables);
      const busy = [...tables.openOrders].map(({ record }) => record).filter(({ state }) => state !== 'queued');
      const mayRun = ({ record }: Row<OrderRecord>): boolean =>
        record.state === 'queued' &&
        workerTypes?.includes(record.worker_type) !== false &&
        busy.filter((other) => other.worker_type === record.worker_type).length <
          (concurrency[record.worker_type] ?? Infinity) &&
        !busy.some((other) => excludes(other, record));
      const [row] = [...tables.openOrders]
        .filter(mayRun)
        .toSorted(
          (left, right) =>
            (right.record.order.priority ?? 0) - (left.record.order.priority ?? 0) || left.sequence - right.sequence,
        );
      if (row === undefined) return undefined;
      const record = replaceOrder(tables, row, {
        state: 'claimed',
        owner: copyOf(worker),
        lease_until: now + leaseMs,
      });
      return { record: copyOf(record), unresolved: findUnresolved(tables, record.order.depends_on ?? []) };
    },
  };
}

/** Two orders of one repository run side by side only if both have a worktree of their own. */
function excludes(left: OrderRecord, right: OrderRecord): boolean {
  return (
    left.order.repo_dir === right.order.repo_dir &&
    !(left.order.isolation === 'worktree' && right.order.isolation === 'worktree')
  );
}

function findUnresolved(tables: Tables, dependencies: readonly string[]): string[] {
  return dependencies.filter((issueRef) => {
    const state = tables.issues.get(issueRef)?.record.state;
    return state !== 'review' && state !== 'done';
  });
}
