import { join } from 'node:path';
import { getArray, isRecord } from '../../../events/index.js';
import type { FsDiff } from '../../../events/index.js';
import type { RunFolderWarning } from '../run-folder-error.js';
import { AUDIT_FOLDER, getAttemptFileName } from '../file-names.js';
import { parseJson, readSmallFile } from '../../../base/files/index.js';
import type { RunFolder } from '../open-run-folder.js';

/** Enough for the paths of a hundred thousand files. */
const MAX_FS_DIFF_BYTES = 16 * 1024 * 1024;

/**
 * Reads the list of files that an attempt changed in its working folder, without Sluice's own files; returns undefined
 * if no list exists.
 */
export async function readFsDiff(
  folder: RunFolder,
  attempt: number,
  warn: (warning: RunFolderWarning) => void,
): Promise<FsDiff | undefined> {
  const path = join(folder.place, getAttemptFileName('fsDiff', attempt));
  const text = await readSmallFile(path, MAX_FS_DIFF_BYTES, async () => folder.openAttempt('fsDiff', attempt));
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isRecord(value)) {
    warn({
      code: 'FS_DIFF_IGNORED',
      attempt,
      message: `"${path}" is not a JSON object: the files changed in attempt ${attempt} are unknown.`,
    });
    return undefined;
  }
  const readPaths = (key: keyof FsDiff): string[] => getArray(value, key).filter(isArtifactPath);
  return { created: readPaths('created'), modified: readPaths('modified'), deleted: readPaths('deleted') };
}

/** Whether a path is below the working folder and outside `.audit`, which only Sluice writes. */
export function isArtifactPath(path: unknown): path is string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) return false;
  if (path.startsWith('/') || path.startsWith('\\') || /^[A-Za-z]:/.test(path)) return false;
  const parts = path.split(/[/\\]/);
  return !parts.includes('..') && !parts.includes(AUDIT_FOLDER);
}
