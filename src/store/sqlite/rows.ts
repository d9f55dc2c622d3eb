import type {
  Decision,
  IssueRecord,
  IssueState,
  OrderRecord,
  OrderState,
  RunRecord,
  RunResult,
  StoredRunSpec,
  RunState,
  WorkOrder,
  WorkResult,
  InboxItem,
} from '../../records/index.js';
import { createColumnError } from '../store-error.js';
import { explainWaiting } from '../waiting-for.js';
import type { SqlRow } from './driver.js';

/** Reads a text column. All columns are checked, because a file can be damaged or edited by another application. */
export function readText(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : throwDamaged(column);
}

export function readTextOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readInteger(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : throwDamaged(column);
}

export function readIntegerOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : readInteger(row, column);
}

/** Reads a time as formatted in records. */
export function readTime(row: SqlRow, column: string): string {
  const time = new Date(readInteger(row, column));
  return Number.isNaN(time.getTime()) ? throwDamaged(column) : time.toISOString();
}

function readTimeOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readTime(row, column);
}

/** Reads JSON that this store has written; its shape is not checked again. */
export function readJson(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(readText(row, column));
  } catch (error) {
    return throwDamaged(column, error);
  }
}

export function readJsonOrNull(row: SqlRow, column: string): unknown {
  return row[column] === null ? null : readJson(row, column);
}

function throwDamaged(column: string, cause?: unknown): never {
  throw createColumnError(column, cause);
}

/** Reads a row of `run_records`, or of `runs` if the run is not queued. */
export function readRun(row: SqlRow): RunRecord {
  const issueRef = readTextOrNull(row, 'order_issue_ref');
  return {
    id: readText(row, 'id'),
    spec: readJson(row, 'spec') as StoredRunSpec,
    state: readText(row, 'state') as RunState,
    order: issueRef === null ? null : { issue_ref: issueRef, run_id: readText(row, 'order_run_id') },
    owner: readOwner(row),
    lease_until: readIntegerOrNull(row, 'lease_until'),
    cancel_requested: readInteger(row, 'cancel_requested') === 1,
    waiting_for: readWaitingFor(row),
    created_at: readTime(row, 'created_at'),
    started_at: readTimeOrNull(row, 'started_at'),
    ended_at: readTimeOrNull(row, 'ended_at'),
    result: readJsonOrNull(row, 'result') as RunResult | null,
  };
}

function readOwner(row: SqlRow): RunRecord['owner'] {
  const workerId = readTextOrNull(row, 'worker_id');
  if (workerId === null) return null;
  return {
    worker_id: workerId,
    host: readTextOrNull(row, 'host') ?? '',
    pid: readIntegerOrNull(row, 'pid') ?? 0,
    pid_started: readTextOrNull(row, 'pid_started'),
  };
}

function readWaitingFor(row: SqlRow): RunRecord['waiting_for'] {
  if (row['state'] !== 'queued') return null;
  return explainWaiting({
    folderHolder: readTextOrNull(row, 'folder_holder'),
    budget: readTextOrNull(row, 'waits_for'),
    notBefore: readInteger(row, 'not_before'),
  });
}

/** Reads a row of `order_records`. */
export function readOrder(row: SqlRow): OrderRecord {
  const group = readTextOrNull(row, 'race_group');
  return {
    order: readJson(row, 'work_order') as WorkOrder,
    run: readText(row, 'run'),
    worker_type: readText(row, 'worker_type'),
    state: readText(row, 'state') as OrderState,
    base_commit: readTextOrNull(row, 'base_commit'),
    created_at: readTime(row, 'created_at'),
    started_at: readTimeOrNull(row, 'started_at'),
    settled_at: readTimeOrNull(row, 'settled_at'),
    decision: readJsonOrNull(row, 'decision') as Decision | null,
    result: readJsonOrNull(row, 'result') as WorkResult | null,
    ...(group === null ? {} : { group }),
  };
}

/** Reads a row of `issues`. */
export function readIssue(row: SqlRow): IssueRecord {
  const group = readTextOrNull(row, 'active_group');
  return {
    issue_ref: readText(row, 'issue_ref'),
    state: readText(row, 'state') as IssueState,
    active_run_id: readTextOrNull(row, 'active_run_id'),
    last_run_number: readInteger(row, 'last_run_number'),
    updated_at: readTime(row, 'updated_at'),
    ...(group === null ? {} : { active_group: group }),
  };
}

/** Reads a row of `inbox`. */
export function readItem(row: SqlRow): InboxItem {
  return {
    ...(readJson(row, 'item') as InboxItem),
    resolution: readJsonOrNull(row, 'resolution') as InboxItem['resolution'],
  };
}
