import type { RunRecord, RunResult, RunSpec, RunState } from '../../records/index.js';
import { digestOf } from '../run-digest.js';
import { columnsOf } from './columns.js';
import type { Row } from './driver.js';

/** A row of `run_records`, or of `runs` where the run is known not to be queued; the table allows only known states. */
export function readRun(row: Row): RunRecord {
  const { text, textOrNull, numberOrNull, flag, time, timeOrNull, json, jsonOrNull } = columnsOf(row);
  const issueRef = textOrNull('order_issue_ref');
  return {
    id: text('id'),
    spec: json('spec') as RunSpec,
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
  const { textOrNull, numberOrNull } = columnsOf(row);
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
  const { textOrNull, number } = columnsOf(row);
  const run = textOrNull('folder_holder');
  return run !== null || number('not_before') > 0 ? { reason: 'folder', run } : null;
}

/** Counts a run of `source` that has just ended; one that had ended before stays as it was counted. */
export function closeDigest(first: number, source: string): string {
  const value = (index: number): string => `$${first + index}`;
  return `UPDATE sluice.run_digests SET outcome = ${value(0)}, repair_level = ${value(1)}, engine_version = ${value(2)},
      unknown_types = ${value(3)}::integer, unknown_fields = ${value(4)}::integer,
      started_at = ${source}.started_at, ended_at = ${source}.ended_at
    FROM ${source}
    WHERE run_digests.seq = ${source}.seq AND ${source}.state = 'ended' AND run_digests.ended_at IS NULL`;
}

/** How many parameters {@link closeDigest} takes. */
export const DIGEST_VALUES = 5;

export function digestValues(result: RunResult): (string | number | null)[] {
  const { outcome, repair_level, engine_version, unknown_types, unknown_fields } = digestOf(result);
  return [outcome, repair_level, engine_version, unknown_types, unknown_fields];
}
