import { lstat, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { getErrorCode, isSluiceError } from '../index.js';
import { openForReading } from './safe-file.js';

/**
 * Opens a file in a folder that an agent can write to; undefined if it is missing or outside. The agent can replace a
 * folder with a link at any time, so the opened file is checked.
 */
export async function openInside(folder: string, path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    const root = await realpath(folder);
    handle = await openForReading(join(root, path));
    if (handle === undefined) return undefined;
    const realPath = await realpath(join(root, path));
    const [opened, expected] = [await handle.stat({ bigint: true }), await stat(realPath, { bigint: true })];
    const isSame = opened.dev === expected.dev && opened.ino === expected.ino;
    if (isSame && isWithin(root, realPath)) return handle;
  } catch (error) {
    await handle?.close();
    // A deleted file, a link, a pipe, or a path through something that is not a folder: all count as missing.
    if (isSluiceError(error) || isMissing(error)) return undefined;
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Returns the size of a regular file in a folder; null if it is missing or outside. */
export async function getSizeInside(folder: string, path: string): Promise<number | null> {
  try {
    const fullPath = join(await realpath(folder), path);
    if ((await realpath(fullPath)) !== fullPath) return null;
    const found = await lstat(fullPath);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']);

function isMissing(error: unknown): boolean {
  return MISSING.has(getErrorCode(error) ?? '');
}

/** Whether a path is a folder or inside it; both must be real paths. */
export function isWithin(folder: string, path: string): boolean {
  const fromFolder = relative(folder, path);
  return fromFolder === '' || (fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder));
}
