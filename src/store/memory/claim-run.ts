import type { RunClaim, RunHold, RunStore } from '../../runs/index.js';
import { MAX_EXPIRED, storeSpec } from '../queue-rules.js';
import { QUEUE } from '../wakers.js';
import {
  checkOpen,
  copyValue,
  endRow,
  findFolderHolder,
  isHeld,
  formatOrderKey,
  readOrder,
  readRun,
  type RunRow,
  type Tables,
} from './tables.js';

type ClaimRun = Pick<
  RunStore,
  | 'claimRun'
  | 'markStarted'
  | 'releaseRun'
  | 'renewRun'
  | 'markWaiting'
  | 'adoptRun'
  | 'endRun'
  | 'requeueExpired'
  | 'findRepositoryStart'
  | 'hasExpiredRuns'
  | 'listExpiredRuns'
>;

/** Creates the store's methods for claiming runs, and for starting, renewing, releasing and ending claimed runs. */
export function createClaimRun(tables: Tables): ClaimRun {
  const { runs } = tables;
  return {
    async claimRun(claim) {
      checkOpen(tables);
      admitDue(tables, claim.now);
      const [row] = [...runs.values()]
        .filter((each) => canStart(tables, each, claim))
        .toSorted((left, right) => right.priority - left.priority || left.sequence - right.sequence);
      if (row === undefined) return undefined;
      row.record = {
        ...row.record,
        state: 'running',
        owner: copyValue(claim.worker),
        lease_until: claim.now + claim.leaseMs,
      };
      const { order: name } = row.record;
      const orderRow = name === null ? undefined : tables.orders.get(formatOrderKey(name.issue_ref, name.run_id));
      const order = orderRow === undefined ? null : readOrder(tables, orderRow);
      return { record: readRun(tables, row), order, unresolved: findUnresolved(tables, order?.order.depends_on ?? []) };
    },

    async markStarted({ spec, baseCommit, repositoryStart, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined) return 'lost';
      if (row.record.cancel_requested && row.record.started_at === null) return 'canceled';
      row.record = {
        ...row.record,
        started_at: row.record.started_at ?? new Date(hold.now).toISOString(),
        ...(spec === undefined ? {} : { spec: copyValue(storeSpec(spec, 'running')) }),
      };
      if (baseCommit !== undefined) setBaseCommit(tables, row, baseCommit);
      if (repositoryStart !== undefined) row.repositoryStart = repositoryStart;
      return 'started';
    },

    async releaseRun({ retryAt, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined || row.record.started_at !== null) return false;
      requeue(row);
      row.notBefore = retryAt;
      return true;
    },

    async renewRun({ leaseMs, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined) return { held: false, cancel: false, reply: null };
      const { reply } = row;
      row.reply = null;
      const state = reply === null ? row.record.state : 'running';
      row.record = { ...row.record, state, lease_until: hold.now + leaseMs };
      return { held: true, cancel: row.record.cancel_requested, reply };
    },

    async markWaiting({ isOver = false, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined) return false;
      row.reply = null;
      row.record = { ...row.record, state: isOver ? 'running' : 'waiting' };
      return true;
    },

    async adoptRun({ id, from, worker, leaseMs, now }) {
      checkOpen(tables);
      const row = findHeld(tables, { id, workerId: from, now });
      if (row === undefined || !isExpired(row, now) || row.record.started_at === null) return undefined;
      row.record = { ...row.record, owner: copyValue(worker), lease_until: now + leaseMs };
      return readRun(tables, row);
    },

    async endRun({ result, ...hold }) {
      checkOpen(tables);
      const row = findHeld(tables, hold);
      if (row === undefined || row.record.order !== null) return false;
      endRow(row, result, hold.now);
      tables.wakers.wake(hold.id);
      tables.wakers.wake(QUEUE);
      return true;
    },

    async hasExpiredRuns(now, host) {
      checkOpen(tables);
      return hasExpired(tables, now, host);
    },

    async requeueExpired(now) {
      checkOpen(tables);
      const expired = [...runs.values()].filter((row) => isExpired(row, now) && row.record.started_at === null);
      for (const row of expired) requeue(row);
      if (expired.length > 0) tables.wakers.wake(QUEUE);
      return expired.length;
    },

    async findRepositoryStart(id) {
      checkOpen(tables);
      const row = runs.get(id);
      return row?.record.state === 'ended' ? undefined : row?.repositoryStart;
    },

    async listExpiredRuns(now, { after, host } = {}) {
      checkOpen(tables);
      const rows = [...runs.values()];
      return rows
        .slice(rows.findIndex(({ record }) => record.id === after) + 1)
        .filter((row) => isExpired(row, now) && row.record.started_at !== null && isOnHost(row, host))
        .slice(0, MAX_EXPIRED)
        .map((row) => readRun(tables, row));
    },
  };
}

/** Makes due deferred runs claimable. */
function admitDue({ runs }: Tables, now: number): void {
  for (const row of runs.values()) if (row.notBefore <= now) row.notBefore = 0;
}

/** Whether any run's lease has expired, optionally only on one host. */
export function hasExpired({ runs }: Tables, now: number, host?: string): boolean {
  return [...runs.values()].some((row) => isExpired(row, now) && isOnHost(row, host));
}

function isOnHost({ record }: RunRow, host: string | undefined): boolean {
  return host === undefined || record.owner?.host === host;
}

/** A canceled order is claimed even if its folder is in use: it is settled without a process. */
function canStart(tables: Tables, row: RunRow, { takes, concurrency = {}, workerTypes }: RunClaim): boolean {
  const { workerType, record } = row;
  if (record.state !== 'queued' || row.notBefore > 0) return false;
  if (takes?.includes(record.order === null ? 'runs' : 'orders') === false) return false;
  if (workerType !== null) {
    if (workerTypes?.includes(workerType) === false) return false;
    const busy = [...tables.runs.values()].filter((other) => isHeld(other) && other.workerType === workerType);
    if (busy.length >= (concurrency[workerType] ?? Infinity)) return false;
  }
  return record.cancel_requested || findFolderHolder(tables, row) === undefined;
}

function findUnresolved(tables: Tables, dependencies: readonly string[]): string[] {
  return dependencies.filter((issueRef) => {
    const state = tables.issues.get(issueRef)?.record.state;
    return state !== 'review' && state !== 'done';
  });
}

function findHeld(tables: Tables, { id, workerId }: RunHold): RunRow | undefined {
  const row = tables.runs.get(id);
  return row !== undefined && isHeld(row) && row.record.owner?.worker_id === workerId ? row : undefined;
}

function isExpired(row: RunRow, now: number): boolean {
  return isHeld(row) && row.record.lease_until !== null && row.record.lease_until <= now;
}

function requeue(row: RunRow): void {
  row.record = { ...row.record, state: 'queued', owner: null, lease_until: null };
}

function setBaseCommit(tables: Tables, { record: { order: name } }: RunRow, commit: string): void {
  const order = name === null ? undefined : tables.orders.get(formatOrderKey(name.issue_ref, name.run_id));
  if (order !== undefined) order.record = { ...order.record, base_commit: order.record.base_commit ?? commit };
}
