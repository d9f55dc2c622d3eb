import { getErrorCode, getErrorMessage, isSluiceError } from '../../base/index.js';
import { migratedMeanwhile } from '../migration-steps.js';
import { StoreError } from '../store-error.js';

/** The state with which our tables refuse a process that writes another schema version. */
export const OTHER_FORM = 'SLU01';

/** A statement was prepared for tables that a newer version has changed since: on a new connection it is prepared again. */
const OUTDATED_PLAN = '0A000';

/** Serialization failure, deadlock and an outdated plan: the whole transaction can be retried. */
const REPEATABLE = new Set(['40001', '40P01', OUTDATED_PLAN]);

const UNIQUE_VIOLATION = '23505';

/** Lock timeout and statement timeout. */
const TIMED_OUT = new Set(['55P03', '57014']);

/** The server refuses connections, or is shutting down. */
const UNAVAILABLE = /^(?:08|28|3D|53|57P)/;

/** Whether a transaction that failed with this error can be retried. */
export function isRepeatable(error: unknown): boolean {
  return REPEATABLE.has(readSqlState(error) ?? '');
}

/** Whether a row with the same key exists, or another transaction has just added one; also of an error that was converted. */
export function isDuplicate(error: unknown): boolean {
  return readSqlState(error instanceof StoreError ? error.cause : error) === UNIQUE_VIOLATION;
}

/** Whether the connection can be used after this error. */
export function leavesConnection(error: unknown): boolean {
  const state = readSqlState(error);
  return state !== undefined && state !== OUTDATED_PLAN && !UNAVAILABLE.test(state);
}

/** Converts an error of the driver or the server. `where` names the database without its password. */
export function toStoreError(error: unknown, where: string): Error {
  if (isSluiceError(error)) return error;
  const state = readSqlState(error);
  if (isAddressRefused(error)) return addressRefused();
  const said = getErrorMessage(error);
  if (state === undefined || UNAVAILABLE.test(state)) {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `Cannot use PostgreSQL at "${where}": ${said}. ${adviceFor(state)} The next call connects again.`,
      { cause: error },
    );
  }
  if (state === OTHER_FORM) return migratedMeanwhile(`PostgreSQL at "${where}"`);
  if (TIMED_OUT.has(state) || REPEATABLE.has(state)) {
    return new StoreError('STORE_BUSY', `PostgreSQL at "${where}" is busy: ${said}. Nothing was written; try again.`, {
      cause: error,
    });
  }
  return new StoreError(
    'STORE_FAILED',
    `PostgreSQL at "${where}" rejected a statement: ${said}. Nothing was written; if your input is correct, report this as a bug.`,
    {
      cause: error,
    },
  );
}

/** The driver could not read the address. */
function isAddressRefused(error: unknown): boolean {
  return error instanceof URIError || getErrorCode(error) === 'ERR_INVALID_URL';
}

/** Without a cause, because it contains the whole address, and the address may contain a password. */
function addressRefused(): StoreError {
  return new StoreError(
    'INVALID_STORE_URL',
    'Invalid database address. Write postgres://USER:PASSWORD@HOST:PORT/NAME with special characters percent-encoded.',
  );
}

/** Returns what to check, by the class of the SQLSTATE; undefined if the server was not reached. */
function adviceFor(state: string | undefined): string {
  switch (state?.slice(0, 2)) {
    case '28':
      return 'Check the user and the password in the address.';
    case '3D':
      return 'Create that database, or name another one.';
    case '53':
      return "Check the server's connections, memory and disk space.";
    case undefined:
    default:
      return 'Check the address, and that the server is running.';
  }
}

/** The SQLSTATE of an error; undefined if it did not come from PostgreSQL. */
function readSqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  // Errors of the system (EPIPE) have a code of the same form, but no severity.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error ? code : undefined;
}
