import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { isWithin } from '../../base/files/index.js';
import { SLUICE_FILES } from '../../runs/index.js';
import { RequestError } from '../http/problem.js';

/** The folders that requests may use. */
interface FolderRules {
  readonly roots: readonly string[];
  /**
   * The data folder. Folders in it that Sluice writes to are never working folders: an agent could change evidence or
   * cached results.
   */
  readonly data: string;
}

/**
 * Sluice's own files and folders in the data folder. Worktrees are not included: agents work in them, so a request may
 * name one.
 */
const PROTECTED = SLUICE_FILES.filter((name) => name !== 'worktrees');

/**
 * Resolves the real path of a folder that a request may use. The message is the same for every refused folder, so
 * callers cannot find out which other folders exist.
 */
export async function resolveAllowedFolder(folder: string, { roots, data }: FolderRules): Promise<string> {
  const real = isAbsolute(folder) ? await findRealPath(folder) : undefined;
  const allowed = await Promise.all(roots.map(findRealPath));
  const protectedFolders = await Promise.all(
    PROTECTED.map(async (name) => (await findRealPath(join(data, name))) ?? join(data, name)),
  );
  if (real !== undefined && !protectedFolders.some((path) => isWithin(path, real))) {
    if (allowed.some((root) => root !== undefined && isWithin(root, real))) return real;
  }
  throw new RequestError(
    'FOLDER_NOT_ALLOWED',
    'The folder does not exist, is not inside one of the configured roots, or is used by Sluice itself. Use the absolute path of another folder inside "roots".',
  );
}

async function findRealPath(path: string): Promise<string | undefined> {
  // A folder that cannot be resolved cannot be allowed.
  return realpath(path).catch(() => undefined);
}
