import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError } from '../base/index.js';
import { openForReading, withFolder } from '../files/index.js';
import type { Below, ReadableFile } from '../base/index.js';

/** A file of a run, wherever the run is kept. */
export interface RunFile {
  /** From the top of the run folder, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Undefined if it is gone meanwhile, or is no regular file any more. */
  open(): Promise<ReadableFile | undefined>;
}

/** A run folder has few levels and files; one with more is something else. */
const DEEPEST_FOLDER = 32;
const MAX_FILES = 100_000;

/** Options for listing a run folder. */
interface Walk extends Below {
  /** Called if there are more files or levels than are listed. */
  readonly onLimit?: () => void;
}

/**
 * The regular files of a folder, sorted by name within each folder. Links and everything else that is neither file nor
 * folder are left out: a worker may have created them.
 */
export async function* walkRunFolder(
  root: string,
  { below = root, onLimit = () => undefined }: Walk = {},
): AsyncGenerator<RunFile> {
  let left = MAX_FILES;

  async function* walk(dir: string, path: string, depth: number): AsyncGenerator<RunFile> {
    for (const { name, size, mtimeMs, isFolder } of await listEntries(dir, below, left + 1)) {
      if (left <= 0) return onLimit();
      left -= 1;
      const full = join(dir, name);
      if (!isFolder) yield { path: `${path}${name}`, size, mtimeMs, open: async () => openIfRegular(full, below) };
      else if (depth < DEEPEST_FOLDER) yield* walk(full, `${path}${name}/`, depth + 1);
      else onLimit();
    }
  }

  yield* walk(root, '', 1);
}

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Files and folders, sorted, so that the same folder gives the same list. */
async function listEntries(dir: string, below: string, most: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const work = async (place: string): Promise<void> => {
    for await (const { name } of await opendir(place)) {
      if (entries.length >= most) break;
      const found = await lstat(join(place, name)).catch(() => undefined);
      if (found === undefined || !(found.isFile() || found.isDirectory())) continue;
      entries.push({ name, isFolder: found.isDirectory(), size: found.size, mtimeMs: found.mtimeMs });
    }
  };
  await withFolder(dir, { below }, { work });
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function openIfRegular(path: string, below: string): Promise<ReadableFile | undefined> {
  try {
    return await openForReading(path, { below });
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}
