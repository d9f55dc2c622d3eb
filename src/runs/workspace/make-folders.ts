import { mkdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { FileError, getErrorCode } from '../../base/index.js';
import { requireRealFolder } from '../../base/files/index.js';

/**
 * Creates a folder inside another, with missing parents. A link in the path is rejected with `UNSAFE_FILE`, because an
 * agent could have created it to redirect our writes.
 */
export async function makeFoldersInside(root: string, folder: string): Promise<void> {
  const steps = relative(root, folder).split(sep);
  if (steps[0] === '..') throw new FileError('UNSAFE_FILE', `"${folder}" is outside "${root}".`);
  let path = root;
  for (const step of steps) {
    path = join(path, step);
    await mkdir(path).catch((error: unknown) => {
      if (getErrorCode(error) !== 'EEXIST') throw error;
    });
    await requireRealFolder(path);
  }
}
