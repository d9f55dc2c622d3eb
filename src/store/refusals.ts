import { StoreError } from './store-error.js';

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
