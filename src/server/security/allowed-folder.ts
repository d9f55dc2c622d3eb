import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { isWithin } from '../../files/index.js';
import { PACKED_FOLDER } from '../../run-folder/index.js';
import { RequestError } from '../http/problem.js';

/** The folders that requests may use. */
interface FolderRules {
  readonly roots: readonly string[];
  /** The data folder, which contains evidence and is never a working folder. */
  readonly data: string;
}

/**
 * Resolves the real path of a folder that a request may use. The message is the same for a missing folder and for one outside
 * the roots, so that callers learn nothing about other folders.
 */
export async function resolveAllowedFolder(folder: string, { roots, data }: FolderRules): Promise<string> {
  const real = isAbsolute(folder) ? await findRealPath(folder) : undefined;
  const allowed = await Promise.all(roots.map(findRealPath));
  const evidence = await Promise.all(
    ['runs', PACKED_FOLDER].map(async (name) => (await findRealPath(join(data, name))) ?? join(data, name)),
  );
  if (real !== undefined && !evidence.some((protectedFolder) => isWithin(protectedFolder, real))) {
    if (allowed.some((root) => root !== undefined && isWithin(root, real))) return real;
  }
  throw new RequestError(
    'FOLDER_NOT_ALLOWED',
    'The folder does not exist or is not inside one of the configured roots. Use the absolute path of a folder inside "roots".',
  );
}

async function findRealPath(path: string): Promise<string | undefined> {
  // A folder that cannot be resolved cannot be allowed.
  return realpath(path).catch(() => undefined);
}
