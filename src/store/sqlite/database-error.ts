import { getErrorCode, getErrorMessage, isSluiceError } from '../../base/index.js';
import { StoreError } from '../store-error.js';

/** SQLite's primary result codes, without the prefix SQLITE_. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

const UNAVAILABLE: readonly number[] = [READONLY, IOERR, FULL, CANTOPEN];
const DAMAGED: readonly number[] = [CORRUPT, NOTADB];

/** Whether another process has locked the file: nothing was done, and a retry can succeed. */
export function isBusy(error: unknown): boolean {
  const code = readResultCode(error);
  return code === BUSY || code === LOCKED;
}

/** Converts a SQLite or system error. */
export function toStoreError(error: unknown, file: string): Error {
  if (isSluiceError(error)) return error;
  const code = readResultCode(error);
  const detail = getErrorMessage(error);
  if (code === undefined ? error instanceof Error && 'syscall' in error : UNAVAILABLE.includes(code)) {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `Cannot use the database "${file}": ${detail}. Check its folder, permissions and free space.`,
      { cause: error },
    );
  }
  // The driver throws ERR_OUT_OF_RANGE for a number that does not fit into a double; the store never writes one.
  if ((code !== undefined && DAMAGED.includes(code)) || getErrorCode(error) === 'ERR_OUT_OF_RANGE') {
    return createDamagedError(file, error);
  }
  if (isBusy(error)) return createBusyError(file, error);
  if (code === undefined) return error instanceof Error ? error : new Error(detail, { cause: error });
  return new StoreError(
    'STORE_FAILED',
    `The database "${file}" rejected a statement: ${detail}. Nothing was written; if your input is correct, report this as a bug.`,
    { cause: error },
  );
}

/** A statement that cannot be prepared despite the schema version: the tables are damaged. */
export function toDamagedError(error: unknown, file: string): Error {
  const known = toStoreError(error, file);
  if (!(known instanceof StoreError) || known.code !== 'STORE_FAILED') return known;
  return createDamagedError(file, error);
}

/** Creates the error for a file whose content is damaged. */
export function createDamagedError(file: string, cause: unknown): StoreError {
  const detail = getErrorMessage(cause);
  return new StoreError(
    'STORE_DAMAGED',
    `Cannot read the database "${file}": ${detail}. Restore it from a backup, or use another file.`,
    { cause },
  );
}

/** Creates the error for a file that was replaced after it was opened. */
export function createReplacedError(file: string): StoreError {
  return new StoreError(
    'STORE_UNAVAILABLE',
    `The database "${file}" was removed or replaced while it was in use. Nothing was written; put the file back, or restart.`,
  );
}

/** Creates the error for a file that stayed locked until the timeout. */
export function createBusyError(file: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_BUSY',
    `The database "${file}" is locked by another process. Nothing was written; try again.`,
    { cause },
  );
}

/** Returns SQLite's primary result code, the lowest byte. */
function readResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  // If a statement fails while its rows are being read, the driver reports SQLite's message without the code.
  if (getErrorCode(error) !== 'ERR_SQLITE_ERROR') return undefined;
  return CODES_BY_MESSAGE[error.message] ?? ERROR;
}

/** SQLite's own message for each code that is distinguished here. */
const CODES_BY_MESSAGE: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'attempt to write a readonly database': READONLY,
  'disk I/O error': IOERR,
  'database disk image is malformed': CORRUPT,
  'database or disk is full': FULL,
  'unable to open database file': CANTOPEN,
  'file is not a database': NOTADB,
};
