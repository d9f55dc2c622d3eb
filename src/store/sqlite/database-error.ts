import { errorCodeOf, errorMessageOf, isSluiceError } from '../../base/index.js';
import { StoreError } from '../store-error.js';

const FAILED = 1;
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const BROKEN_DISK = 10;
const MALFORMED = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NO_DATABASE = 26;

const UNAVAILABLE: readonly number[] = [READ_ONLY, BROKEN_DISK, FULL, CANNOT_OPEN];
const DAMAGED: readonly number[] = [MALFORMED, NO_DATABASE];

/** Whether another process holds the file right now: nothing was done, and doing it again may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === BUSY || code === LOCKED;
}

/** An error of SQLite or of the system as one of ours. */
export function toStoreError(error: unknown, file: string): Error {
  if (isSluiceError(error)) return error;
  const code = resultCodeOf(error);
  const said = errorMessageOf(error);
  if (code === undefined ? isSystemError(error) : UNAVAILABLE.includes(code)) {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `the database ${file} cannot be used (${said}); check its folder, permissions and space`,
      { cause: error },
    );
  }
  // The last is what the driver says of a number that no double holds; the store writes none.
  if ((code !== undefined && DAMAGED.includes(code)) || errorCodeOf(error) === 'ERR_OUT_OF_RANGE') {
    return damaged(file, error);
  }
  if (isBusy(error)) return storeBusy(file, error);
  if (code === undefined) return error instanceof Error ? error : new Error(said, { cause: error });
  return new StoreError(
    'STORE_FAILED',
    `the database ${file} refused a statement (${said}); nothing was written: if the command was right, report it`,
    {
      cause: error,
    },
  );
}

/** What is wrong with tables for which a statement of ours cannot be prepared, although they have the right version. */
export function asDamaged(error: unknown, file: string): Error {
  const known = toStoreError(error, file);
  if (!(known instanceof StoreError) || known.code !== 'STORE_FAILED') return known;
  return damaged(file, error);
}

/** The file is there, and what it holds is not what was written. */
export function damaged(file: string, cause: unknown): StoreError {
  const said = errorMessageOf(cause);
  return new StoreError(
    'STORE_DAMAGED',
    `the database ${file} cannot be read (${said}); restore it from a copy, or name another file`,
    { cause },
  );
}

/** The file is not the one that was opened. */
export function fileReplaced(file: string): StoreError {
  return new StoreError(
    'STORE_UNAVAILABLE',
    `the database ${file} was removed or replaced while it was in use; nothing was written: put it back, or start again`,
  );
}

/** Others kept the file locked for as long as anyone may wait. */
export function storeBusy(file: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_BUSY',
    `another process keeps the database ${file} locked; nothing was written, try again`,
    { cause },
  );
}

/** The first byte of SQLite's result code; the others tell variants of the same. */
function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  // Where a statement breaks while its rows are read, the driver hands on the words of SQLite without the code.
  if (errorCodeOf(error) !== 'ERR_SQLITE_ERROR') return undefined;
  return CODE_OF_WORDS[error.message] ?? FAILED;
}

/** What SQLite says by itself of each code that is told apart here. */
const CODE_OF_WORDS: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'attempt to write a readonly database': READ_ONLY,
  'disk I/O error': BROKEN_DISK,
  'database disk image is malformed': MALFORMED,
  'database or disk is full': FULL,
  'unable to open database file': CANNOT_OPEN,
  'file is not a database': NO_DATABASE,
};

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
