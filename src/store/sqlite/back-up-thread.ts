import { DatabaseSync } from '@photostructure/sqlite';
import { getErrorMessage } from '../../base/index.js';
import { serveTasks } from '../../threads/index.js';
import { StoreError } from '../store-error.js';
import type { StoreErrorCode } from '../store-error.js';
import { toStoreError } from './database-error.js';
import type { Connection } from './driver.js';
import { checkForm } from './migrate.js';

/** Source and target of a copy. */
export interface CopyTask {
  readonly from: string;
  readonly part: string;
}

/** An empty message: the copy is complete. Errors are sent as data, because their class would be lost. */
export interface CopyReply {
  readonly code?: StoreErrorCode;
  readonly message: string;
}

serveTasks(({ from, part }: CopyTask): CopyReply => {
  try {
    copy(from, part);
    check(part);
    return { message: '' };
  } catch (error) {
    const message = getErrorMessage(error);
    return error instanceof StoreError ? { code: error.code, message } : { message };
  }
});

/** Writers hold the lock for milliseconds; reading waits no longer than this for them. */
const TIMEOUT_MS = 30_000;

/** One read transaction: writers continue, and what they write meanwhile is not in the copy. */
function copy(from: string, part: string): void {
  let connection: Connection | undefined;
  let isWriting = false;
  try {
    connection = new DatabaseSync(from, { timeout: TIMEOUT_MS });
    checkForm(connection, from);
    isWriting = true;
    connection.prepare('VACUUM INTO ?').run(part);
  } catch (error) {
    const failure = toStoreError(error, from);
    // Once the database could be read, a full disk or a missing permission concerns the copy.
    throw isWriting && isUnavailable(failure) ? error : failure;
  } finally {
    connection?.close();
  }
}

function isUnavailable(error: Error): boolean {
  return error instanceof StoreError && error.code === 'STORE_UNAVAILABLE';
}

/** Opens the copy and checks it. */
function check(part: string): void {
  const connection: Connection = new DatabaseSync(part, { readOnly: true });
  try {
    checkForm(connection, part);
    const answer = connection.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'];
    if (answer !== 'ok') throw new Error(`the copy is damaged (${String(answer)})`);
  } finally {
    connection.close();
  }
}
