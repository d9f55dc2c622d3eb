import { mkdir, stat, chmod, lstat, readdir, rm, access, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { constants } from 'node:fs';
import type { Dirent } from 'node:fs';
import { getErrorCode, SluiceError } from '../index.js';

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

/**
 * Lists the names that `choose` returns for a folder's entries, in groups of at most `size`, so memory stays bounded.
 * Yields nothing if the folder is missing.
 *
 * @example
 * for await (const names of listNames(folder, 500, chooseFolder)) await remove(names)
 */
export async function* listNames(
  folder: string,
  size: number,
  choose: (entry: Dirent) => string | undefined,
): AsyncGenerator<readonly string[]> {
  let names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      const name = choose(entry);
      if (name === undefined) continue;
      names.push(name);
      if (names.length < size) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error;
  }
  if (names.length > 0) yield names;
}

/** Returns the first names of {@link listNames}, at most `max`. */
export async function listFirstNames(
  folder: string,
  max: number,
  choose: (entry: Dirent) => string | undefined,
): Promise<readonly string[]> {
  for await (const names of listNames(folder, max, choose)) return names;
  return [];
}

/** Chooses folders, but not links to folders, which could point to someone else's data. */
export function chooseFolder(entry: Dirent): string | undefined {
  return entry.isDirectory() ? entry.name : undefined;
}

/** Whether anything exists at this path, including a dangling link. A path that cannot be read counts as absent. */
export async function isPresent(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
