import { isSluiceError } from '../../json/sluice-error.js';
import { StoreError } from '../store-error.js';

const BUSY = 5;
const LOCKED = 6;
/** The file is read-only, cannot be read or written, there is no space, or it cannot be opened. */
const UNAVAILABLE: readonly number[] = [8, 10, 13, 14];
/** The file is damaged, or is no database. */
const DAMAGED: readonly number[] = [11, 26];

/** Whether another process holds the file right now: nothing was done, and doing it again may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === BUSY || code === LOCKED;
}

/** An error of SQLite or of the system as one of ours. */
export function toStoreError(error: unknown, file: string): Error {
  if (isSluiceError(error)) return error;
  const code = resultCodeOf(error);
  const said = error instanceof Error ? error.message : String(error);
  if (code === undefined ? isSystemError(error) : UNAVAILABLE.includes(code)) {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `the database ${file} cannot be used (${said}); check its folder, permissions and space`,
      { cause: error },
    );
  }
  if (code !== undefined && DAMAGED.includes(code)) {
    return new StoreError(
      'STORE_DAMAGED',
      `the database ${file} cannot be read (${said}); restore it from a copy, or name another file`,
      { cause: error },
    );
  }
  if (code === undefined) return error instanceof Error ? error : new Error(said, { cause: error });
  return new StoreError('STORE_FAILED', `the database ${file} refused a statement (${said}); nothing was written`, {
    cause: error,
  });
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
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
