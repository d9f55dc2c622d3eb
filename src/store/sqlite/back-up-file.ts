import { closeSync, fsyncSync, openSync } from 'node:fs';
import { chmod, link, lstat, rm } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../base/files/index.js';
import { getErrorCode, getErrorMessage, SluiceError } from '../../base/index.js';
import { createThreadPool } from '../../base/threads/index.js';
import { StoreError } from '../store-error.js';
import type { CopyReply, CopyTask } from './back-up-thread.js';
import type { Connection } from './driver.js';

/** A complete backup. */
export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

export interface BackupProgress {
  readonly bytes: number;
  /** The approximate size of the copy. */
  readonly total: number;
}

export interface BackupOptions {
  /** Called a few times per second while the copy is written. */
  readonly onProgress?: (progress: BackupProgress) => void;
}

const entry = new URL(`./back-up-thread${extname(import.meta.url)}`, import.meta.url);
/** The largest databases take hours, but a hanging disk must not block a backup forever. */
const THREADS = { threads: 1, queue: 2, taskMs: 24 * 60 * 60_000, memoryMb: 256 } as const;
const PROGRESS_MS = 200;

/** Copies a database that can be in use, in a thread, as SQLite blocks. The final name is given only when complete. */
export async function backUpFile(source: string, target: string, { onProgress }: BackupOptions = {}): Promise<Backup> {
  const [from, to] = [resolve(source), resolve(target)];
  if ((await lstat(to).catch(() => undefined)) !== undefined) throw createExistsError(to);
  if ((await lstat(from).catch(() => undefined)) === undefined) {
    throw new StoreError('STORE_UNAVAILABLE', `Cannot find the database "${from}". Specify an existing database file.`);
  }
  const part = `${to}.${process.pid}.part`;
  try {
    await makeFolder(dirname(to));
    await copyInThread(from, part, onProgress);
    await chmod(part, 0o600);
    flush(part);
    await publish(part, to);
    return { file: to, bytes: (await lstat(to)).size };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const detail = getErrorMessage(error).replace(/\.$/, '');
    throw new StoreError(
      'BACKUP_FAILED',
      `Cannot copy the database "${from}" to "${to}": ${detail}. Check the target folder, its permissions and free space.`,
      { cause: error },
    );
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function copyInThread(from: string, part: string, onProgress: BackupOptions['onProgress']): Promise<void> {
  const pool = createThreadPool<CopyTask, CopyReply>({ entry, ...THREADS });
  const total = onProgress === undefined ? 0 : measureContents(from);
  const reportProgress = async (): Promise<void> => {
    const found = await lstat(part).catch(() => undefined);
    if (found !== undefined) onProgress?.({ bytes: Math.min(found.size, total), total });
  };
  const timer = onProgress === undefined ? undefined : setInterval(() => void reportProgress(), PROGRESS_MS);
  try {
    const { code, message } = await pool.run({ from, part }, 'backup');
    if (code !== undefined) throw new StoreError(code, message);
    if (message !== '') throw new Error(message);
    await reportProgress();
  } finally {
    clearInterval(timer);
    pool.close();
  }
}

/** Returns the size of a copy, without free pages; 0 if the database cannot be read. */
function measureContents(file: string): number {
  try {
    const connection: Connection = new DatabaseSync(file, { readOnly: true });
    try {
      const read = (name: string): number => Number(connection.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
      return (read('page_count') - read('freelist_count')) * read('page_size');
    } finally {
      connection.close();
    }
  } catch {
    return 0;
  }
}

function flush(part: string): void {
  const handle = openSync(part, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Uses a hard link, which, unlike a rename, never replaces a file that was created meanwhile. */
async function publish(part: string, to: string): Promise<void> {
  try {
    await link(part, to);
  } catch (error) {
    throw getErrorCode(error) === 'EEXIST' ? createExistsError(to) : error;
  }
}

function createExistsError(file: string): SluiceError {
  return new SluiceError('TARGET_EXISTS', `Cannot write the backup: "${file}" already exists. Use another file name.`);
}
