import { lstat, opendir } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { isSluiceError } from '../base/index.js';
import { openForReading } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';

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
const MOST_FILES = 100_000;

/**
 * The regular files of a folder, sorted by name within each folder. Links and everything else that is neither file nor
 * folder are left out: a worker may have created them. `onLimit` is called if there are more files or levels than are listed.
 */
export async function* walkRunFolder(root: string, onLimit: () => void = () => undefined): AsyncGenerator<RunFile> {
  let left = MOST_FILES;

  async function* walk(dir: string, path: string, depth: number): AsyncGenerator<RunFile> {
    for (const entry of await listEntries(dir, left + 1)) {
      if (left <= 0) return onLimit();
      left -= 1;
      const full = join(dir, entry.name);
      if (entry.isFile()) {
        const found = await lstat(full).catch(() => undefined);
        if (found?.isFile() !== true) continue;
        const { size, mtimeMs } = found;
        yield { path: `${path}${entry.name}`, size, mtimeMs, open: async () => openIfRegular(full) };
      } else if (entry.isDirectory()) {
        if (depth < DEEPEST_FOLDER) yield* walk(full, `${path}${entry.name}/`, depth + 1);
        else onLimit();
      }
    }
  }

  yield* walk(root, '', 1);
}

/** Sorted, so that the same folder gives the same list. */
async function listEntries(dir: string, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(dir)) {
    if (entries.length >= most) break;
    entries.push(entry);
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function openIfRegular(path: string): Promise<ReadableFile | undefined> {
  try {
    return await openForReading(path);
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}
