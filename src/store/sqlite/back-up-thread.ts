import { DatabaseSync } from '@photostructure/sqlite';
import { getErrorMessage } from '../../base/index.js';
import { serveTasks } from '../../base/threads/index.js';
import { StoreError, type StoreErrorCode } from '../store-error.js';
import { toStoreError } from './database-error.js';
import type { Connection } from './driver.js';
import { checkVersion } from './migrate.js';

/** Source and target of a copy. */
export interface CopyTask {
  readonly from: string;
  readonly part: string;
}

/** The outcome of a copy: an empty message for success. Errors are sent as data, because their class would be lost. */
export interface CopyReply {
  readonly code?: StoreErrorCode;
  readonly message: string;
}

serveTasks(({ from, part }: CopyTask): CopyReply => {
  try {
    copyDatabase(from, part);
    checkCopy(part);
    return { message: '' };
  } catch (error) {
    const message = getErrorMessage(error);
    return error instanceof StoreError ? { code: error.code, message } : { message };
  }
});

/** Writers hold the lock for milliseconds; the copy waits for it at most this long. */
const TIMEOUT_MS = 30_000;

/** Copies in one read transaction: writers continue, but their writes are not in the copy. */
function copyDatabase(from: string, part: string): void {
  let connection: Connection | undefined;
  let isWriting = false;
  try {
    connection = new DatabaseSync(from, { timeout: TIMEOUT_MS });
    checkVersion(connection, from);
    isWriting = true;
    connection.prepare('VACUUM INTO ?').run(part);
  } catch (error) {
    const failure = toStoreError(error, from);
    // The database was readable, so a full disk or a missing permission concerns the copy.
    const isUnavailable = failure instanceof StoreError && failure.code === 'STORE_UNAVAILABLE';
    throw isWriting && isUnavailable ? error : failure;
  } finally {
    connection?.close();
  }
}

function checkCopy(part: string): void {
  const connection: Connection = new DatabaseSync(part, { readOnly: true });
  try {
    checkVersion(connection, part);
    const outcome = connection.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'];
    if (outcome !== 'ok') throw new Error(`the copy is damaged (${String(outcome)})`);
  } finally {
    connection.close();
  }
}
