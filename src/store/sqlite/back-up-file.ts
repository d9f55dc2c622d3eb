import { closeSync, fsyncSync, openSync } from 'node:fs';
import { chmod, link, lstat, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../files/index.js';
import { getErrorCode, getErrorMessage } from '../../base/index.js';
import { StoreError } from '../store-error.js';
import { toStoreError } from './database-error.js';
import type { Connection } from './driver.js';
import { checkForm } from './migrate.js';

/** A copy that was made. */
export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

/** Writers hold the lock for milliseconds; reading waits no longer than this for them. */
const PATIENCE_MS = 30_000;

/** Copies a database that may be in use; the copy gets its name only when it is complete. */
export async function backUpFile(source: string, target: string): Promise<Backup> {
  const [from, to] = [resolve(source), resolve(target)];
  if ((await lstat(to).catch(() => undefined)) !== undefined) throw backupExists(to);
  if ((await lstat(from).catch(() => undefined)) === undefined) {
    throw new StoreError('STORE_UNAVAILABLE', `Cannot find the database "${from}". Name an existing database file.`);
  }
  const part = `${to}.${process.pid}.part`;
  try {
    await makeFolder(dirname(to));
    copy(from, part);
    await chmod(part, 0o600);
    check(part);
    flush(part);
    await publish(part, to);
    return { file: to, bytes: (await lstat(to)).size };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const said = getErrorMessage(error);
    throw new StoreError(
      'BACKUP_FAILED',
      `Cannot copy the database "${from}" to "${to}": ${said}. Check the target folder, its permissions and free space.`,
      { cause: error },
    );
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

/** One read transaction: writers continue, and what they write meanwhile is not in the copy. */
function copy(from: string, part: string): void {
  let connection: Connection | undefined;
  let isWriting = false;
  try {
    connection = new DatabaseSync(from, { timeout: PATIENCE_MS });
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

function flush(part: string): void {
  const handle = openSync(part, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** A hard link, unlike a rename, never replaces a file that was created in the meantime. */
async function publish(part: string, to: string): Promise<void> {
  try {
    await link(part, to);
  } catch (error) {
    throw getErrorCode(error) === 'EEXIST' ? backupExists(to) : error;
  }
}

function backupExists(file: string): StoreError {
  return new StoreError('BACKUP_EXISTS', `Cannot write the backup: "${file}" already exists. Name another file.`);
}
