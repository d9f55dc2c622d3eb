import type { RunRecord } from '../records/index.js';
import type { RunRecords } from '../runs/index.js';
import { RequestError } from './request-error.js';

/** A run that a request names; throws `RUN_NOT_FOUND`. */
export async function findRun(store: Pick<RunRecords, 'findRun'>, id: string): Promise<RunRecord> {
  const record = await store.findRun(id);
  if (record !== undefined) return record;
  throw runNotFound();
}

/** The id is not repeated: it may be anything. */
export function runNotFound(): RequestError {
  return new RequestError('RUN_NOT_FOUND', 'There is no such run. GET /v1/runs lists them.');
}
