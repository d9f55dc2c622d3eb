import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode } from '../base/index.js';

/**
 * Makes a folder that somebody named, and those above it that are missing; one that is there is left as it is. Not
 * `recursive: true` of `mkdir`: where a folder is there and nothing can be made in it (`/proc`), Node.js tries for ever.
 *
 * @example
 * await makeFolder('data/comments')
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (getErrorCode(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  await mkdir(path).catch(async (error: unknown) => {
    // Another process may have been faster.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  });
}
