import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../base/index.js';
import { withFolder } from '../files/index.js';
import { getRunFolderPath } from './run-place.js';

/**
 * Removes the folder of a run; true if there was one. Sluice creates no links, so the target of a link is never removed, and nothing
 * is removed if the parent folder was replaced by a link.
 *
 * @example
 * await removeRunFolder('/data', '01J…') // true
 */
export async function removeRunFolder(data: string, runId: string): Promise<boolean> {
  const folder = getRunFolderPath(data, runId);
  const work = async (place: string): Promise<boolean> => {
    const path = join(place, basename(folder));
    if (!(await lstat(path)).isDirectory()) return false;
    await rm(path, { recursive: true, force: true });
    return true;
  };
  try {
    return await withFolder(dirname(folder), { below: data }, { work });
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
