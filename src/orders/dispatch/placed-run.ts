import { omitUndefined } from '../../base/index.js';
import { createFailedResult } from '../../runs/index.js';
import { describePlacementFailure, type PlacementFailure } from '../../runs/sandbox/index.js';
import type { PlacedRecord } from '../../store/index.js';
import type { RunRecord, RunResult } from '../../store/records/index.js';
import type { PlacedRun, PlacementHandle } from '../placement/index.js';
import { pickPlacement } from '../wrappers/wrappers.js';

/** How the worker ids of claims start that this duty has taken back. */
export const FENCE = 'placing:';

/** How the worker ids of claims start whose runs wait for an answer without a place. */
export const PARKED = 'parked:';

/** Whether a run waits for an answer without a place. */
export function isParked({ state, owner }: RunRecord): boolean {
  return state === 'waiting' && owner?.worker_id.startsWith(PARKED) === true;
}

/** Whether the worker in the place has not taken the claim over yet. */
export function isUntaken(workerId: string): boolean {
  return workerId.startsWith('run:') && !workerId.includes('/');
}

export function withOwner(run: RunRecord, workerId: string): RunRecord {
  return run.owner === null ? run : { ...run, owner: { ...run.owner, worker_id: workerId } };
}

export function readHandle({ id, name, uid }: PlacedRecord): PlacementHandle | undefined {
  return name === null ? undefined : { run: id, name, ...(uid === null ? {} : { uid }) };
}

/** Describes a run as a placement needs it. */
export function describeRun(
  { id, order, spec }: RunRecord,
  { server, token }: Pick<PlacedRun, 'server' | 'token'>,
): PlacedRun {
  return { id, server, token, ...pickPlacement(spec), ...omitUndefined({ order: order?.run_id, labels: spec.labels }) };
}

/** Creates the result of a run whose place failed. */
export function createPlacementResult(failure: PlacementFailure): RunResult {
  const result = createFailedResult('PLACEMENT_FAILED', describePlacementFailure(failure));
  return result.error === undefined ? result : { ...result, error: { ...result.error, cause: failure.cause } };
}
