import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode } from '../base/index.js';

/** Sluice's files are accessible only to its user. */
const MODE = 0o700;

/**
 * Creates a folder and its missing parents, accessible only to this user; an existing one is left unchanged. Does
 * not use `recursive: true` of `mkdir`: if a folder exists and nothing can be created in it (`/proc`), Node.js retries forever.
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
  await mkdir(path, MODE).catch(async (error: unknown) => {
    // Another process may have created it first.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  });
}
