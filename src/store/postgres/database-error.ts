import { getErrorCode, getErrorMessage, isSluiceError } from '../../base/index.js';
import { createMigratedError, StoreError } from '../store-error.js';

/** The SQLSTATE our tables use to reject a process with another schema version. */
export const OTHER_SCHEMA_VERSION = 'SLU01';

/** The tables changed after a statement was prepared; a new connection prepares it again. */
const OUTDATED_PLAN = '0A000';

/** Serialization failure, deadlock and outdated plan: the transaction can be retried. */
const RETRYABLE = new Set(['40001', '40P01', OUTDATED_PLAN]);

const UNIQUE_VIOLATION = '23505';

/** Lock timeout and statement timeout. */
const TIMED_OUT = new Set(['55P03', '57014']);

/** The server accepts only reads: it is a replica, or no longer the primary. Another connection can reach the primary. */
const READ_ONLY = '25006';

/** The server rejects connections, is shutting down, or accepts only reads. */
const UNAVAILABLE = new RegExp(`^(?:08|28|3D|53|57P|${READ_ONLY})`);

/** Whether a transaction that failed with this error can be retried. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(readSqlState(error) ?? '');
}

/** Whether the connection prepared the statement before its tables were changed. */
export function isPlanOutdated(error: unknown): boolean {
  return readSqlState(error) === OUTDATED_PLAN;
}

/** Whether a row with the same key exists, or was just added by another transaction; also accepts a converted error. */
export function isDuplicate(error: unknown): boolean {
  return readSqlState(error instanceof StoreError ? error.cause : error) === UNIQUE_VIOLATION;
}

/** Whether the connection is still usable after this error. */
export function isConnectionUsable(error: unknown): boolean {
  const state = readSqlState(error);
  return state !== undefined && state !== OUTDATED_PLAN && !UNAVAILABLE.test(state);
}

/** Converts a driver or server error. `where` is the database without its password. */
export function toStoreError(error: unknown, where: string): Error {
  if (isSluiceError(error)) return error;
  const state = readSqlState(error);
  // The driver could not parse the URL. Without the cause, which contains the URL, possibly with a password.
  if (error instanceof URIError || getErrorCode(error) === 'ERR_INVALID_URL') {
    return new StoreError(
      'INVALID_STORE_URL',
      'Invalid database URL. Use postgres://USER:PASSWORD@HOST:PORT/NAME with special characters percent-encoded.',
    );
  }
  const detail = getErrorMessage(error);
  if (state === undefined || UNAVAILABLE.test(state)) {
    const advice = ADVICE[state?.slice(0, 2) ?? ''] ?? 'Check the URL, and that the server is running.';
    return new StoreError(
      'STORE_UNAVAILABLE',
      `Cannot use PostgreSQL at "${where}": ${detail}. ${advice} The next call reconnects.`,
      { cause: error },
    );
  }
  if (state === OTHER_SCHEMA_VERSION) return createMigratedError(`PostgreSQL at "${where}"`);
  if (TIMED_OUT.has(state) || RETRYABLE.has(state)) {
    return new StoreError(
      'STORE_BUSY',
      `PostgreSQL at "${where}" is busy: ${detail}. Nothing was written; try again.`,
      { cause: error },
    );
  }
  return new StoreError(
    'STORE_FAILED',
    `PostgreSQL at "${where}" rejected a statement: ${detail}. Nothing was written; if your input is correct, report this as a bug.`,
    { cause: error },
  );
}

/** Advice by SQLSTATE class. */
const ADVICE: Readonly<Record<string, string>> = {
  '25': 'It accepts only reads: wait for the failover, or use the URL of the primary.',
  '28': 'Check the user and the password in the URL.',
  '3D': 'Create that database, or use another one.',
  '53': "Check the server's connections, memory and disk space.",
};

/** Returns an error's SQLSTATE; undefined if it did not come from PostgreSQL. */
function readSqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  // System errors (EPIPE) have a code of the same format, but no severity.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error ? code : undefined;
}
