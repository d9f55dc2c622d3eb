import type { RunRecord, RunResult, RunSpec, RunState } from '../../records/index.js';
import type { SqlRow } from './driver.js';
import {
  readInteger,
  readIntegerOrNull,
  readJson,
  readJsonOrNull,
  readText,
  readTextOrNull,
  readTime,
  readTimeOrNull,
} from './row-reader.js';

/** A row of `run_records`, or of `runs` where the run is known not to be queued. */
export function readRun(row: SqlRow): RunRecord {
  const issueRef = readTextOrNull(row, 'order_issue_ref');
  return {
    id: readText(row, 'id'),
    spec: readJson(row, 'spec') as RunSpec,
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
  const run = readTextOrNull(row, 'folder_holder');
  return run !== null || readInteger(row, 'not_before') > 0 ? { reason: 'folder', run } : null;
}
