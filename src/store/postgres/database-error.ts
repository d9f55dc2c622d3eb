import { errorCodeOf, errorMessageOf, isSluiceError } from '../../base/index.js';
import { StoreError } from '../store-error.js';

/** Errors of PostgreSQL that say: somebody else was faster, do it again from the beginning. */
const REPEATABLE = new Set(['40001', '40P01']);

/** Time ran out: waiting for a lock, or working. */
const TIMED_OUT = new Set(['55P03', '57014']);

/** The server is there and lets nobody in, or it is just leaving. */
const UNAVAILABLE = /^(?:08|28|3D|53|57P)/;

/** Whether a transaction that failed so may be run again. */
export function isRepeatable(error: unknown): boolean {
  return REPEATABLE.has(sqlStateOf(error) ?? '');
}

/** Whether the connection can be used after this error. */
export function leavesConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && !UNAVAILABLE.test(state);
}

/** An error of the driver or the server as one of ours. `where` names the database without its password. */
export function toStoreError(error: unknown, where: string): Error {
  if (isSluiceError(error)) return error;
  const state = sqlStateOf(error);
  if (isAddressRefused(error)) return addressRefused();
  const said = errorMessageOf(error);
  if (state === undefined || UNAVAILABLE.test(state)) {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `PostgreSQL at ${where} cannot be used now (${said}); ${adviceFor(state)}; the next call connects again`,
      { cause: error },
    );
  }
  if (TIMED_OUT.has(state) || REPEATABLE.has(state)) {
    return new StoreError(
      'STORE_BUSY',
      `PostgreSQL at ${where} did not come to it in time (${said}); nothing was written, try again`,
      { cause: error },
    );
  }
  return new StoreError(
    'STORE_FAILED',
    `PostgreSQL at ${where} refused a statement (${said}); nothing was written: if the command was right, report it`,
    {
      cause: error,
    },
  );
}

/** The driver could not read the address. */
function isAddressRefused(error: unknown): boolean {
  return error instanceof URIError || errorCodeOf(error) === 'ERR_INVALID_URL';
}

/** Without a cause: that has the whole address in it, and the address may have a password. */
function addressRefused(): StoreError {
  return new StoreError(
    'INVALID_STORE_URL',
    'the address of the database cannot be read: write postgres://USER:PASSWORD@HOST:PORT/NAME, special characters percent-encoded',
  );
}

/** What to look at, by the class of what the server said; it says nothing if it was not reached. */
function adviceFor(state: string | undefined): string {
  switch (state?.slice(0, 2)) {
    case '28':
      return 'check user and password in the address';
    case '3D':
      return 'create that database, or name another';
    case '53':
      return 'look at the connections, memory and space of the server';
    case undefined:
    default:
      return 'check the address, and whether the server runs';
  }
}

/** The five characters PostgreSQL tells an error by; undefined if it did not come from PostgreSQL. */
function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  // Errors of the system (ECONNRESET) have letters only where a state has five digits and capitals.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error ? code : undefined;
}
