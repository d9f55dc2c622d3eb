import type { RunRecord } from '../../store/records/index.js';
import { RequestError } from '../http/problem.js';
import type { Caller } from '../security/tokens.js';

/** Returns the start of a caller's worker ids. Token names, run tokens, and the tokens "a" and "a/b" cannot collide. */
export function getPrefix({ name, isRun = false }: Caller): string {
  return isRun ? name : `worker:${encodeURIComponent(name)}`;
}

export function isOwn(caller: Caller, workerId: string): boolean {
  const prefix = getPrefix(caller);
  return workerId === prefix || workerId.startsWith(`${prefix}/`);
}

export function requireOwn(caller: Caller, workerId: string): void {
  if (!isOwn(caller, workerId)) throw createNotHeldError();
}

export function isHeldBy(record: RunRecord | undefined, workerId: string): record is RunRecord {
  return record?.owner?.worker_id === workerId && record.state !== 'ended';
}

/** Creates the error for a run that the worker does not hold; it does not reveal whether the run exists. */
export function createNotHeldError(): RequestError {
  return new RequestError(
    'RUN_NOT_FOUND',
    'This worker does not hold the run: its claim has expired or ended, or the token is for another run.',
  );
}
