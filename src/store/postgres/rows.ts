import type {
  Decision,
  InboxItem,
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
} from '../../records/index.js';
import { buildFailureText, createDigest } from '../run-digest.js';
import { createColumnError } from '../store-error.js';
import { explainWaiting } from '../waiting-for.js';
import type { Row } from './driver.js';

/** Typed access to a row's columns. Detects tables that were edited outside of Sluice. */
export interface Columns {
  readonly text: (name: string) => string;
  readonly textOrNull: (name: string) => string | null;
  readonly number: (name: string) => number;
  readonly numberOrNull: (name: string) => number | null;
  readonly flag: (name: string) => boolean;
  /** A time as formatted in records. */
  readonly time: (name: string) => string;
  readonly timeOrNull: (name: string) => string | null;
  /** JSON that this store has written; its shape depends on the release that wrote it. */
  readonly json: (name: string) => unknown;
  readonly jsonOrNull: (name: string) => unknown;
}

/** Reads the columns of one row. */
export function readColumns(row: Row): Columns {
  const text = (name: string): string => {
    const value = row[name];
    return typeof value === 'string' ? value : throwDamaged(name);
  };
  const number = (name: string): number => {
    const value = row[name];
    if (typeof value === 'number') return value;
    // The driver returns a bigint as a string; ours are times and counts, which fit into a double.
    return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : throwDamaged(name);
  };
  const time = (name: string): string => {
    const at = new Date(number(name));
    return Number.isNaN(at.getTime()) ? throwDamaged(name) : at.toISOString();
  };
  const json = (name: string): unknown => {
    try {
      return JSON.parse(text(name));
    } catch (cause) {
      return throwDamaged(name, cause);
    }
  };
  const orNull = <T>(name: string, read: (name: string) => T): T | null => (row[name] === null ? null : read(name));
  return {
    text,
    textOrNull: (name) => orNull(name, text),
    number,
    numberOrNull: (name) => orNull(name, number),
    flag: (name) => row[name] === true,
    time,
    timeOrNull: (name) => orNull(name, time),
    json,
    jsonOrNull: (name) => orNull(name, json),
  };
}

function throwDamaged(column: string, cause?: unknown): never {
  throw createColumnError(column, cause);
}

/** Reads a row of `run_records`, or of `runs` if the run is not queued; the table allows only known states. */
export function readRun(row: Row): RunRecord {
  const { text, textOrNull, numberOrNull, flag, time, timeOrNull, json, jsonOrNull } = readColumns(row);
  const issueRef = textOrNull('order_issue_ref');
  return {
    id: text('id'),
    spec: json('spec') as StoredRunSpec,
    state: text('state') as RunState,
    order: issueRef === null ? null : { issue_ref: issueRef, run_id: text('order_run_id') },
    owner: readOwner(row),
    lease_until: numberOrNull('lease_until'),
    cancel_requested: flag('cancel_requested'),
    waiting_for: readWaitingFor(row),
    created_at: time('created_at'),
    started_at: timeOrNull('started_at'),
    ended_at: timeOrNull('ended_at'),
    result: jsonOrNull('result') as RunResult | null,
  };
}

function readOwner(row: Row): RunRecord['owner'] {
  const { textOrNull, numberOrNull } = readColumns(row);
  const workerId = textOrNull('worker_id');
  if (workerId === null) return null;
  return {
    worker_id: workerId,
    host: textOrNull('owner_host') ?? '',
    pid: numberOrNull('owner_pid') ?? 0,
    pid_started: textOrNull('owner_pid_started'),
  };
}

function readWaitingFor(row: Row): RunRecord['waiting_for'] {
  if (row['state'] !== 'queued') return null;
  const { textOrNull, number } = readColumns(row);
  return explainWaiting({
    folderHolder: textOrNull('folder_holder'),
    budget: textOrNull('waits_for'),
    notBefore: number('not_before'),
  });
}

/**
 * Builds the query `counted`, which writes the digests of the runs in `source` that have just ended and marks them to
 * be counted; an existing digest is not changed.
 */
export function buildDigestUpdate(first: number, source: string): string {
  const value = (index: number): string => `$${first + index}`;
  return `UPDATE sluice.run_digests SET outcome = ${value(0)}, repair_level = ${value(1)}, engine_version = ${value(2)},
      unknown_types = ${value(3)}::integer, unknown_fields = ${value(4)}::integer, words = words || ${value(5)}::text,
      usage = ${value(6)}::text,
      started_at = ${source}.started_at, ended_at = ${source}.ended_at
    FROM ${source}
    WHERE run_digests.seq = ${source}.seq AND ${source}.state = 'ended' AND run_digests.ended_at IS NULL
    RETURNING run_digests.seq
  ), to_count AS (
    INSERT INTO sluice.runs_to_count (seq) SELECT seq FROM counted ON CONFLICT DO NOTHING`;
}

export function listDigestValues(result: RunResult): (string | number | null)[] {
  const { outcome, repair_level, engine_version, unknown_types, unknown_fields, usage } = createDigest(result);
  const used = usage === null ? null : JSON.stringify(usage);
  return [outcome, repair_level, engine_version, unknown_types, unknown_fields, buildFailureText(result), used];
}

/** Reads an issue; the table allows only known states. */
export function readIssue(row: Row): IssueRecord {
  const { text, textOrNull, number, time } = readColumns(row);
  const group = textOrNull('active_group');
  return {
    issue_ref: text('issue_ref'),
    state: text('state') as IssueState,
    active_run_id: textOrNull('active_run_id'),
    last_run_number: number('last_run_number'),
    updated_at: time('updated_at'),
    ...(group === null ? {} : { active_group: group }),
  };
}

/** Reads a row of `order_records`. */
export function readOrder(row: Row): OrderRecord {
  const { text, textOrNull, time, timeOrNull, json, jsonOrNull } = readColumns(row);
  const group = textOrNull('race_group');
  return {
    order: json('work_order') as WorkOrder,
    run: text('run'),
    worker_type: text('worker_type'),
    state: text('state') as OrderState,
    base_commit: textOrNull('base_commit'),
    created_at: time('created_at'),
    started_at: timeOrNull('started_at'),
    settled_at: timeOrNull('settled_at'),
    decision: jsonOrNull('decision') as Decision | null,
    result: jsonOrNull('result') as WorkResult | null,
    ...(group === null ? {} : { group }),
  };
}

/** Reads an inbox item. The resolution is in a separate column, because it is written later. */
export function readItem(row: Row): InboxItem {
  const { json, jsonOrNull } = readColumns(row);
  return { ...(json('item') as InboxItem), resolution: jsonOrNull('resolution') as InboxItem['resolution'] };
}
