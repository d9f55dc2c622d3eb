import type {
  Decision,
  InboxItem,
  IssueRecord,
  IssueState,
  OrderRecord,
  OrderState,
  RefusedAnswer,
  RunRecord,
  RunResult,
  RunState,
  StoredRunSpec,
  WorkOrder,
  WorkResult,
} from './records/index.js';
import type { Row } from './driver.js';
import { PLACED } from './queue-rules.js';
import { createColumnError } from './store-error.js';

/** Reads a text column. All columns are checked, because a database can be damaged or edited by another application. */
export function readText(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : throwDamaged(column);
}

export function readTextOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readNumber(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  // The PostgreSQL driver returns a bigint as a string; ours are times and counts, which fit into a double.
  return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : throwDamaged(column);
}

export function readNumberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : readNumber(row, column);
}

/** Reads a flag, which is stored as 0 or 1. */
export function readFlag(row: Row, column: string): boolean {
  return readNumber(row, column) === 1;
}

/** Reads the numbers of the events in a row of `event_packs`. */
export function readRange(row: Row): { readonly firstSeq: number; readonly lastSeq: number } {
  return { firstSeq: readNumber(row, 'first_seq'), lastSeq: readNumber(row, 'last_seq') };
}

/** Reads a time as formatted in records. */
export function readTime(row: Row, column: string): string {
  const time = new Date(readNumber(row, column));
  return Number.isNaN(time.getTime()) ? throwDamaged(column) : time.toISOString();
}

function readTimeOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : readTime(row, column);
}

/** Reads JSON that this store has written; its shape is not checked again. */
export function readJson(row: Row, column: string): unknown {
  try {
    return JSON.parse(readText(row, column));
  } catch (error) {
    return throwDamaged(column, error);
  }
}

export function readJsonOrNull(row: Row, column: string): unknown {
  return row[column] === null ? null : readJson(row, column);
}

function throwDamaged(column: string, cause?: unknown): never {
  throw createColumnError(column, cause);
}

/** Reads a row of `run_records`, or of `runs` if the run is not queued and has no lease. */
export function readRun(row: Row): RunRecord {
  const issueRef = readTextOrNull(row, 'order_issue_ref');
  const refused = readJsonOrNull(row, 'refused_answers');
  return {
    id: readText(row, 'id'),
    spec: readJson(row, 'spec') as StoredRunSpec,
    state: readText(row, 'state') as RunState,
    order: issueRef === null ? null : { issue_ref: issueRef, run_id: readText(row, 'order_run_id') },
    owner: readOwner(row),
    lease_until: row['lease_until'] === undefined ? null : readNumberOrNull(row, 'lease_until'),
    cancel_requested: readFlag(row, 'cancel_requested'),
    waiting_for: readWaitingFor(row),
    created_at: readTime(row, 'created_at'),
    started_at: readTimeOrNull(row, 'started_at'),
    ended_at: readTimeOrNull(row, 'ended_at'),
    result: readJsonOrNull(row, 'result') as RunResult | null,
    ...(refused === null ? {} : { refused_answers: refused as readonly RefusedAnswer[] }),
  };
}

function readOwner(row: Row): RunRecord['owner'] {
  const workerId = readTextOrNull(row, 'worker_id');
  if (workerId === null) return null;
  return {
    worker_id: workerId,
    host: readTextOrNull(row, 'host') ?? '',
    pid: readNumberOrNull(row, 'pid') ?? 0,
    pid_started: readTextOrNull(row, 'pid_started'),
  };
}

const DAY_MS = 86_400_000;

/**
 * Explains why a queued run cannot start; null if it only waits for a worker. The folder takes precedence: until it is
 * free, the run cannot request its budget again.
 */
function readWaitingFor(row: Row): RunRecord['waiting_for'] {
  if (row['state'] !== 'queued') return null;
  const run = readTextOrNull(row, 'folder_holder');
  if (run !== null) {
    const since = readTimeOrNull(row, 'folder_held_since');
    return { reason: 'folder', run, ...(since === null ? {} : { started_at: since }) };
  }
  const notBefore = readNumber(row, 'not_before');
  if (notBefore === 0) return null;
  const isPlaced = notBefore === PLACED;
  // The budget that was used up when the run was last claimed.
  const budget = readTextOrNull(row, 'waits_for');
  if (budget === null) {
    if (!isPlaced) return { reason: 'folder', run };
    return { reason: 'placement', placement: (readJson(row, 'spec') as StoredRunSpec).placement ?? '' };
  }
  // A run requests its budget again at the end of the UTC day at the latest.
  const opensAt = Math.ceil((isPlaced ? Date.now() : notBefore) / DAY_MS) * DAY_MS;
  return { reason: 'budget', budget, opens_at: new Date(opensAt).toISOString() };
}

export function readOrder(row: Row): OrderRecord {
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

export function readIssue(row: Row): IssueRecord {
  const group = readTextOrNull(row, 'active_group');
  return {
    issue_ref: readText(row, 'issue_ref'),
    state: readText(row, 'state') as IssueState,
    active_run_id: readTextOrNull(row, 'active_run_id'),
    last_run_number: readNumber(row, 'last_run_number'),
    updated_at: readTime(row, 'updated_at'),
    ...(group === null ? {} : { active_group: group }),
  };
}

/** Reads a row of `inbox`. The resolution is in a separate column, because it is written later. */
export function readItem(row: Row): InboxItem {
  return {
    ...(readJson(row, 'item') as InboxItem),
    resolution: readJsonOrNull(row, 'resolution') as InboxItem['resolution'],
  };
}
