import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { FileError, getErrorCode } from '../base/index.js';
import type { Below } from '../base/index.js';

/*
 * A folder that an agent can write to may be replaced by a link at any moment, and so may every folder between it and one that only
 * Sluice writes to. On Linux the folders are opened one after the other, none of them through a link, and the last one is used by
 * its descriptor: whatever happens to the names, it stays the folder that was opened. Elsewhere all of them are looked at before
 * and after.
 */

/** Of Linux; Node.js has no name for it. A folder that may be passed through but not listed is opened too. */
const O_PATH = 0x20_00_00;

/** Whether an open folder can be named. */
const NAMES_OPEN_FOLDERS = process.platform === 'linux' && existsSync('/proc/self/fd');

/** What is done in a folder; `undo` takes it back where the folder turns out to be another one. */
interface FolderWork<T> {
  readonly work: (place: string) => Promise<T>;
  readonly undo?: (done: T) => Promise<void>;
}

/**
 * Works in a folder that is certain to be below another, without a link on the way. `place` names it as long as the work lasts.
 * Throws `UNSAFE_FILE` for a link or a file in its way, and what the system says where a folder is missing.
 *
 * @example
 * await withFolder(join(data, 'runs'), { below: data }, { work: async (place) => rm(join(place, id), { recursive: true }) })
 */
export async function withFolder<T>(
  folder: string,
  { below = dirname(folder) }: Below,
  work: FolderWork<T>,
): Promise<T> {
  return NAMES_OPEN_FOLDERS ? withOpenFolder(folder, below, work) : withCheckedFolder(folder, below, work);
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
      throw found?.isSymbolicLink() === true ? unsafeFolder(path, error) : error;
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
  throw unsafeFolder(folder);
}

/** The folders on the way, each a folder itself and not a link. */
async function identify(folder: string, below: string): Promise<string> {
  const found: string[] = [];
  let path = below;
  for (const name of ['', ...listSteps(folder, below)]) {
    path = join(path, name);
    const step = await lstat(path, { bigint: true });
    if (name !== '' && !step.isDirectory()) throw unsafeFolder(path);
    found.push(`${step.dev}-${step.ino}`);
  }
  return found.join(' ');
}

/** The names on the way down. */
function listSteps(folder: string, below: string): readonly string[] {
  const way = relative(below, folder);
  const steps = way.split(sep).filter((step) => step !== '');
  if (!isAbsolute(way) && steps[0] !== '..') return steps;
  throw new FileError('UNSAFE_FILE', `"${folder}" is outside of "${below}". Use a path below it.`);
}

function unsafeFolder(folder: string, cause?: unknown): FileError {
  const message = `"${folder}" is not a folder, and links are not followed. Remove it.`;
  return new FileError('UNSAFE_FILE', message, { cause });
}

/** Throws unless all folders on the way are real ones: a link in the place of one could redirect where files are written. */
export async function requireOwnFolder(path: string, below: Below = {}): Promise<void> {
  await withFolder(path, below, { work: async () => undefined }).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOTDIR' ? unsafeFolder(path, error) : error;
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
  await requireOwnFolder(folder, { below });
}
