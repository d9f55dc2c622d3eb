import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { SluiceError, getErrorCode } from '../index.js';
import { makeFolder } from './make-folder.js';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it cannot be created',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  ENOTDIR: 'part of its path is a file',
  EEXIST: 'it is a file',
};

/**
 * Creates a data folder if it is missing, and checks that it is writable, before anything that needs it starts.
 * Otherwise throws `DATA_FOLDER_UNUSABLE`.
 *
 * @example
 * await prepareDataFolder('/srv/sluice')
 */
export async function prepareDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = getErrorCode(error) ?? 'unknown error';
    const message = `Cannot write to the data folder "${path}": ${REASONS[code] ?? code}. Fix that, or choose another folder with --data or SLUICE_DATA.`;
    throw new SluiceError('DATA_FOLDER_UNUSABLE', message, { cause: error });
  }
}
