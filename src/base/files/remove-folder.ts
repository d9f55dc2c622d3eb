import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../index.js';

/**
 * Removes a folder and everything in it; a missing folder is ignored, and links are not followed. Some tools create
 * folders without write permission (for example Go's module cache), which cannot be emptied: they are made writable if
 * the removal fails.
 *
 * @example
 * await removeFolder('/data/checks/01J…')
 */
export async function removeFolder(path: string): Promise<void> {
  const remove = async (): Promise<void> => rm(path, { recursive: true, force: true });
  await remove().catch(async (error: unknown) => {
    const code = getErrorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    await makeWritable(path);
    await remove();
  });
}

const OWNER_ACCESS = 0o700;

async function makeWritable(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) return;
  if ((found.mode & OWNER_ACCESS) !== OWNER_ACCESS) await chmod(path, (found.mode & 0o777) | OWNER_ACCESS);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(path, entry.name));
  }
}
