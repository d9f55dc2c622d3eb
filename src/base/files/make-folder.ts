import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode } from '../index.js';

/** Sluice's folders are accessible only to the user that runs it. */
const MODE = 0o700;

/**
 * Creates a folder and its missing parents, accessible only to this user; an existing folder stays unchanged. Does not
 * use `mkdir` with `recursive: true`: if a folder exists and nothing can be created in it (`/proc`), Node.js retries
 * forever.
 *
 * @example
 * await makeFolder('data/comments')
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await createSingleFolder(path);
  } catch (error) {
    const parent = dirname(path);
    if (getErrorCode(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await createSingleFolder(path);
  }
}

async function createSingleFolder(path: string): Promise<void> {
  await mkdir(path, MODE).catch(async (error: unknown) => {
    // Another process might have created it first.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  });
}
