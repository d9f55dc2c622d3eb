import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../base/index.js';
import { removeFolder, withFolder } from '../files/index.js';
import { getRunFolderPath } from './run-place.js';

/**
 * Removes a run's folder; returns whether it existed. Links are not followed: nothing is removed if the run folder or
 * its parent was replaced by a link.
 *
 * @example
 * await removeRunFolder('/data', '01J…') // true
 */
export async function removeRunFolder(data: string, runId: string): Promise<boolean> {
  const folder = getRunFolderPath(data, runId);
  const work = async (place: string): Promise<boolean> => {
    const path = join(place, basename(folder));
    if (!(await lstat(path)).isDirectory()) return false;
    await removeFolder(path);
    return true;
  };
  try {
    return await withFolder(dirname(folder), { trustedRoot: data }, { work });
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
