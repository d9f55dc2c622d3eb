import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { FileError, getErrorCode, type TrustedRoot } from '../index.js';

/*
 * An agent that can write to a folder can replace it, or a writable folder above it, with a link at any time. On Linux
 * the folders are opened one by one without following links, and the last one is used through its descriptor, so
 * renaming or replacing it has no effect. On other systems all of them are checked before and after the operation.
 */

/** A Linux flag without a constant in Node.js. Also opens folders that can be traversed but not listed. */
const O_PATH = 0x20_00_00;

const CAN_USE_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd');

/** An operation in a folder; `undo` reverts it if the folder was replaced meanwhile. */
interface FolderWork<T> {
  readonly work: (folderPath: string) => Promise<T>;
  readonly undo?: (result: T) => Promise<void>;
}

/**
 * Runs an operation in a folder below another folder, with no link between them. `folderPath` is a path to it that is
 * valid only during the operation. Throws `UNSAFE_FILE` if a link is on the path, and the system error if a folder is
 * missing. A file on the path causes the system error on Linux, and `UNSAFE_FILE` on other systems.
 */
export async function withFolder<T>(
  folder: string,
  { trustedRoot = dirname(folder) }: TrustedRoot,
  work: FolderWork<T>,
): Promise<T> {
  return CAN_USE_DESCRIPTOR_PATHS
    ? withOpenFolder(folder, trustedRoot, work)
    : withCheckedFolder(folder, trustedRoot, work);
}

export async function withOpenFolder<T>(folder: string, trustedRoot: string, { work }: FolderWork<T>): Promise<T> {
  const descriptor = openAtOnce(folder, trustedRoot) ?? openFolder(folder, trustedRoot);
  try {
    return await work(`/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
}

/** The real path of the last trusted root: the files of many runs are below the same one. */
let lastRoot = { path: '', realPath: '' };

/**
 * Opens a folder and compares where it is with where it should be, which takes three calls instead of two per step.
 * Returns undefined if it is anywhere else; the steps then show why.
 */
function openAtOnce(folder: string, trustedRoot: string): number | undefined {
  let opened: number | undefined;
  try {
    if (lastRoot.path !== trustedRoot) lastRoot = { path: trustedRoot, realPath: realpathSync.native(trustedRoot) };
    opened = openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const steps = listSteps(folder, trustedRoot);
    if (readlinkSync(`/proc/self/fd/${opened}`) === join(lastRoot.realPath, ...steps)) return opened;
  } catch {
    // The steps report the error.
  }
  if (opened !== undefined) closeSync(opened);
  return undefined;
}

/** Opens a folder step by step. Synchronous: a step takes microseconds, and the thread pool ten times as long. */
function openFolder(folder: string, trustedRoot: string): number {
  const steps = listSteps(folder, trustedRoot);
  let path = trustedRoot;
  let opened = openSync(trustedRoot, O_PATH | constants.O_DIRECTORY);
  for (const name of steps) {
    path = join(path, name);
    const parent = opened;
    try {
      opened = openSync(`/proc/self/fd/${parent}/${name}`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      throw isLink(path) ? createUnsafeError(path, error) : error;
    } finally {
      closeSync(parent);
    }
  }
  return opened;
}

/** Whether anything exists at this path, including a dangling link. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

export async function withCheckedFolder<T>(
  folder: string,
  trustedRoot: string,
  { work, undo }: FolderWork<T>,
): Promise<T> {
  const before = await identify(folder, trustedRoot);
  const result = await work(folder);
  const after = await identify(folder, trustedRoot).catch(() => undefined);
  if (after === before) return result;
  await undo?.(result);
  const message = `"${folder}" was replaced or removed during the operation. Check what else writes there, then try again.`;
  throw new FileError('UNSAFE_FILE', message);
}

/** Returns the device and inode of each folder on the path; throws if one below `trustedRoot` is not a folder. */
async function identify(folder: string, trustedRoot: string): Promise<string> {
  const found: string[] = [];
  let path = trustedRoot;
  for (const name of ['', ...listSteps(folder, trustedRoot)]) {
    path = join(path, name);
    const step = await lstat(path, { bigint: true });
    if (name !== '' && !step.isDirectory()) throw createUnsafeError(path);
    found.push(`${step.dev}-${step.ino}`);
  }
  return found.join(' ');
}

function listSteps(folder: string, trustedRoot: string): readonly string[] {
  const path = relative(trustedRoot, folder);
  const steps = path.split(sep).filter((step) => step !== '');
  if (!isAbsolute(path) && steps[0] !== '..') return steps;
  throw new FileError('UNSAFE_FILE', `"${folder}" is outside "${trustedRoot}". Use a path below it.`);
}

function createUnsafeError(folder: string, cause?: unknown): FileError {
  const message = `"${folder}" is not a folder, and links are not followed. Remove it.`;
  return new FileError('UNSAFE_FILE', message, { cause });
}

/** Creates a folder and its missing parents below another folder, by default only for this user. None may be a link. */
export async function makeFolderBelow(folder: string, trustedRoot: string, mode = 0o700): Promise<void> {
  if (listSteps(folder, trustedRoot).length > 0) {
    const parent = dirname(folder);
    if (!isThere(parent)) await makeFolderBelow(parent, trustedRoot, mode);
    const work = async (folderPath: string): Promise<void> => {
      const path = join(folderPath, basename(folder));
      try {
        if (!isThere(path)) mkdirSync(path, mode);
      } catch (error) {
        if (getErrorCode(error) !== 'EEXIST') throw error;
      }
    };
    await withFolder(parent, { trustedRoot }, { work });
  }
  await withFolder(folder, { trustedRoot }, { work: async () => undefined }).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOTDIR' ? createUnsafeError(folder, error) : error;
  });
}
