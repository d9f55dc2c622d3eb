import { SluiceError } from '../base/index.js';

/** Store error codes. A closed list: `docs/errors.md` explains what to do about each. */
export const STORE_ERROR_CODES = [
  'INVALID_STORE_URL',
  'STORE_UNAVAILABLE',
  'STORE_TOO_NEW',
  'STORE_TOO_OLD',
  'STORE_INCOMPLETE',
  'STORE_BUSY',
  'STORE_FAILED',
  'STORE_DAMAGED',
  'STORE_CLOSED',
  'PACKAGE_MISSING',
  'REQUEST_ID_REUSED',
  'ISSUE_UNDECIDED',
  'ORDER_NOT_FOUND',
  'INVALID_CURSOR',
  'SPEC_NOT_STORABLE',
  'COPY_UNSUPPORTED',
  'BACKUP_FAILED',
  'MIGRATION_IN_USE',
  'MIGRATION_FAILED',
] as const;

/** One of {@link STORE_ERROR_CODES}. */
export type StoreErrorCode = (typeof STORE_ERROR_CODES)[number];

/**
 * A command that the store rejects, or an environment it cannot work in. Nothing was written, except that after
 * `STORE_UNAVAILABLE` the command might have taken effect, if the connection or the disk failed before it was
 * acknowledged.
 *
 * @example
 * if (error instanceof StoreError) console.error(error.code, error.message)
 */
export class StoreError extends SluiceError<StoreErrorCode> {
  override readonly name = 'StoreError';
}

export function createReusedIdError(requestId: string, known: string): StoreError {
  return new StoreError(
    'REQUEST_ID_REUSED',
    `The request_id "${requestId}" belongs to ${known}, a different request. Repeat that request unchanged, or use a new request_id.`,
  );
}

/** Creates the error for a change by a worker whose claim has moved or ended. */
export function createNotHeldError(): StoreError {
  return new StoreError('ORDER_NOT_FOUND', 'The worker does not hold the run: its claim has moved or ended.');
}

/** Creates the error for a table that was damaged or edited outside of Sluice. */
export function createColumnError(column: string, cause?: unknown): StoreError {
  return new StoreError(
    'STORE_DAMAGED',
    `The database is damaged: column "${column}" has an unexpected value. Restore the database from a backup.`,
    { cause },
  );
}

/** Creates the error for a name that the database cannot store. */
export function createNulError(): StoreError {
  return new StoreError(
    'STORE_FAILED',
    'Invalid name: it contains a NUL character, which the database cannot store. Nothing was written; remove the character.',
  );
}

export function createClosedError(): StoreError {
  return new StoreError('STORE_CLOSED', 'The store is closed. Open it again.');
}

/** The schema version of a store that is being copied into: far above every real one, so nothing opens it. */
export const TRANSFER_SCHEMA_VERSION = 1_000_000;

/** Creates the error for a store that a newer version migrated while this process was using it. */
export function createMigratedError(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot write to ${where}: a newer version of Sluice has migrated it. Nothing was written; restart this process with that version.`,
  );
}

/** Creates the error for a store with a schema version that this version of Sluice does not know. */
export function createTooNewError(where: string, version: number, supported: number): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot open ${where}: it has schema version ${version}, and this version of Sluice supports up to ${supported}. Use the newer version of Sluice that wrote it.`,
  );
}

/** Creates the error for a store of a version before the first release. */
export function createOutdatedError(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_OLD',
    `Cannot open ${where}: a version of Sluice before the first release created it. Export what matters with that version ("sluice executions --csv", "sluice export RUN"), then use an empty database.`,
  );
}

/** Creates the error for a store that another store is being copied into. */
export function createIncompleteError(where: string): StoreError {
  return new StoreError(
    'STORE_INCOMPLETE',
    `Cannot open ${where}: a migration into it is incomplete. Run "sluice migrate" again with the same source and target.`,
  );
}

/** Whether a bound value is a string with a NUL, where SQLite would truncate a name and PostgreSQL reject it. */
export function containsNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Whether a statement only reads, in which case a name with a NUL character matches nothing. */
export function isReadOnly(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql);
}
