import { isDeepStrictEqual } from 'node:util';
import type { RunRecord, RunSpec, WorkOrder, WorkRequest } from '../records/index.js';
import { requestIdReused } from './refusals.js';

/** Refuses a request under the id of another one: whoever sent it would take the old order for the new work. */
export function checkSameOrder({ run_id: runId, ...asked }: WorkOrder, request: WorkRequest): void {
  if (isSame(asked, request)) return;
  throw requestIdReused(request.request_id ?? '', `order ${runId} of ${asked.issue_ref}`);
}

/** The same for a run: its result would be taken for the answer to another question. */
export function checkSameRun(known: Pick<RunRecord, 'id' | 'spec'>, requestId: string, spec: RunSpec): void {
  if (!isSame(known.spec, spec)) throw requestIdReused(requestId, `run ${known.id}`);
}

/** Whether a request is the one that was kept, as far as JSON tells: the order of its fields says nothing. */
function isSame(kept: unknown, request: unknown): boolean {
  return isDeepStrictEqual(kept, JSON.parse(JSON.stringify(request)));
}
