import { SluiceError } from '../base/index.js';

/** What can go wrong with a store. A closed list: `docs/errors.md` says what to do about each. */
export const STORE_ERROR_CODES = [
  'INVALID_STORE_URL',
  'STORE_UNAVAILABLE',
  'STORE_TOO_NEW',
  'STORE_BUSY',
  'STORE_FAILED',
  'STORE_DAMAGED',
  'STORE_CLOSED',
  'PACKAGE_MISSING',
  'REQUEST_ID_REUSED',
  'ORDER_NOT_FOUND',
  'INVALID_CURSOR',
  'SPEC_NOT_STORABLE',
  'BACKUP_UNSUPPORTED',
  'BACKUP_EXISTS',
  'BACKUP_FAILED',
] as const;

/** One of {@link STORE_ERROR_CODES}. */
export type StoreErrorCode = (typeof STORE_ERROR_CODES)[number];

/**
 * A command that the store refuses, or surroundings in which it cannot work. Nothing was written.
 *
 * @example
 * if (error instanceof StoreError) console.error(error.code, error.message)
 */
export class StoreError extends SluiceError<StoreErrorCode> {
  override readonly name = 'StoreError';
}

/** The id of a request came again, with something else to do. */
export function requestIdReused(requestId: string, known: string): StoreError {
  return new StoreError(
    'REQUEST_ID_REUSED',
    `request_id ${requestId} is the id of ${known}, which asks for something else: repeat that request as it was, or give this one an id of its own`,
  );
}

/** A result came for a run that was never handed out. */
export function orderNotFound(issueRef: string, runId: string): StoreError {
  return new StoreError('ORDER_NOT_FOUND', `there is no order ${runId} of ${issueRef}: submit it first`);
}

/** A list was asked to go on from a place that no list has told. */
export function invalidCursor(): StoreError {
  return new StoreError('INVALID_CURSOR', 'the cursor is none that a list has returned; start without one');
}

/** A table was damaged, or changed by hand. */
export function columnDamaged(column: string, cause?: unknown): StoreError {
  return new StoreError(
    'STORE_DAMAGED',
    `column ${column} does not hold what Sluice wrote there: restore the database from a backup`,
    { cause },
  );
}

/** The store was closed before the call. */
export function storeClosed(): StoreError {
  return new StoreError('STORE_CLOSED', 'the store is closed: open it again');
}
