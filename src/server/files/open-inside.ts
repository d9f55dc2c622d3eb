import { lstat, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf, isSluiceError } from '../../base/index.js';
import { openForReading } from '../../files/index.js';
import { isWithin } from '../security/is-within.js';

/**
 * Opens a file of a folder that an agent may write to; undefined if it is not there, or leads out. The agent may exchange a
 * folder for a link at any moment, so what counts is the file that was opened: it must be the one that is inside.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    const root = await realpath(folder);
    handle = await openForReading(join(root, path));
    if (handle === undefined) return undefined;
    const real = await realpath(join(root, path));
    const [opened, inside] = [await handle.stat({ bigint: true }), await stat(real, { bigint: true })];
    const isSame = opened.dev === inside.dev && opened.ino === inside.ino;
    if (isSame && isWithin(root, real)) return handle;
  } catch (error) {
    // Gone, a link, a pipe, no longer a folder on the way there: for a reader it is the same.
    if (!isSluiceError(error) && !isMissing(error)) throw error;
  }
  await handle?.close();
  return undefined;
}

/** How large a plain file of a folder is; null if it is not there, or leads out. */
export async function sizeInside(folder: string, path: string): Promise<number | null> {
  try {
    const full = join(await realpath(folder), path);
    if ((await realpath(full)) !== full) return null;
    const found = await lstat(full);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']);

function isMissing(error: unknown): boolean {
  return MISSING.has(errorCodeOf(error) ?? '');
}
