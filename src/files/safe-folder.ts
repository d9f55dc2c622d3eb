import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { FileError, getErrorCode } from '../base/index.js';
import type { Below } from '../base/index.js';

/*
 * An agent that can write to a folder can replace it, or any folder above it that it can write to, by a link at any moment. On
 * Linux the folders are opened one after the other without following links, and the last one is used through its descriptor:
 * renaming or replacing it then has no effect. Elsewhere all of them are checked before and after the operation.
 */

/** A Linux flag without a constant in Node.js. Also opens folders that may be traversed but not listed. */
const O_PATH = 0x20_00_00;

/** Whether an open folder can be addressed by its descriptor. */
const CAN_USE_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd');

/** An operation in a folder; `undo` reverts it if the folder was replaced meanwhile. */
interface FolderWork<T> {
  readonly work: (place: string) => Promise<T>;
  readonly undo?: (done: T) => Promise<void>;
}

/**
 * Runs an operation in a folder that is below another one, with no link between them. `place` is a path to it that is valid
 * during the operation. Throws `UNSAFE_FILE` if a link or a file is on the path, and the system's error if a folder is
 * missing.
 *
 * @example
 * await withFolder(join(data, 'runs'), { below: data }, { work: async (place) => rm(join(place, id), { recursive: true }) })
 */
export async function withFolder<T>(
  folder: string,
  { below = dirname(folder) }: Below,
  work: FolderWork<T>,
): Promise<T> {
  return CAN_USE_DESCRIPTOR_PATHS ? withOpenFolder(folder, below, work) : withCheckedFolder(folder, below, work);
}

export async function withOpenFolder<T>(folder: string, below: string, { work }: FolderWork<T>): Promise<T> {
  const opened = await openFolder(folder, below);
  try {
    return await work(`/proc/self/fd/${opened.fd}`);
  } finally {
    await opened.close();
  }
}

async function openFolder(folder: string, below: string): Promise<FileHandle> {
  const steps = listSteps(folder, below);
  let path = below;
  let opened = await open(below, O_PATH | constants.O_DIRECTORY);
  for (const name of steps) {
    path = join(path, name);
    const above = opened;
    try {
      opened = await open(`/proc/self/fd/${above.fd}/${name}`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      const found = await lstat(path).catch(() => undefined);
      throw found?.isSymbolicLink() === true ? createUnsafeError(path, error) : error;
    } finally {
      await above.close();
    }
  }
  return opened;
}

export async function withCheckedFolder<T>(folder: string, below: string, { work, undo }: FolderWork<T>): Promise<T> {
  const before = await identify(folder, below);
  const done = await work(folder);
  const after = await identify(folder, below).catch(() => undefined);
  if (after === before) return done;
  await undo?.(done);
  throw createUnsafeError(folder);
}

/** Device and inode of each folder on the path; throws if one of them is not a folder. */
async function identify(folder: string, below: string): Promise<string> {
  const found: string[] = [];
  let path = below;
  for (const name of ['', ...listSteps(folder, below)]) {
    path = join(path, name);
    const step = await lstat(path, { bigint: true });
    if (name !== '' && !step.isDirectory()) throw createUnsafeError(path);
    found.push(`${step.dev}-${step.ino}`);
  }
  return found.join(' ');
}

/** The names on the path from `below` to the folder. */
function listSteps(folder: string, below: string): readonly string[] {
  const way = relative(below, folder);
  const steps = way.split(sep).filter((step) => step !== '');
  if (!isAbsolute(way) && steps[0] !== '..') return steps;
  throw new FileError('UNSAFE_FILE', `"${folder}" is outside of "${below}". Use a path below it.`);
}

function createUnsafeError(folder: string, cause?: unknown): FileError {
  const message = `"${folder}" is not a folder, and links are not followed. Remove it.`;
  return new FileError('UNSAFE_FILE', message, { cause });
}

/** Throws unless all folders on the path are real folders: a link instead of one could redirect writes. */
export async function requireRealFolder(path: string, below: Below = {}): Promise<void> {
  await withFolder(path, below, { work: async () => undefined }).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOTDIR' ? createUnsafeError(path, error) : error;
  });
}

/** Creates a folder and those between it and another, accessible only to this user. None of them may be a link. */
export async function makeFolderBelow(folder: string, below: string): Promise<void> {
  let parent = below;
  for (const name of listSteps(folder, below)) {
    await withFolder(
      parent,
      { below },
      {
        work: async (place) => {
          await mkdir(join(place, name), 0o700).catch((error: unknown) => {
            if (getErrorCode(error) !== 'EEXIST') throw error;
          });
        },
      },
    );
    parent = join(parent, name);
  }
  await requireRealFolder(folder, { below });
}
