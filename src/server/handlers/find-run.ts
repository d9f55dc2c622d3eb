import type { RunRecord } from '../../records/index.js';
import type { RunStore } from '../../runs/index.js';
import { RequestError } from '../http/problem.js';

/** Finds the requested run; throws `RUN_NOT_FOUND`. */
export async function findRun(store: Pick<RunStore, 'findRun'>, id: string): Promise<RunRecord> {
  const record = await store.findRun(id);
  if (record !== undefined) return record;
  throw createRunNotFoundError();
}

/** Creates the error for an unknown run. The message does not quote the id, because it can be any string. */
export function createRunNotFoundError(): RequestError {
  return new RequestError('RUN_NOT_FOUND', 'Run not found. GET /v1/runs lists all runs.');
}
