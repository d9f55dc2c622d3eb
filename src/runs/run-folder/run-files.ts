import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError, type OpenFile, type TrustedRoot, type ReadableFile } from '../../base/index.js';
import { openForReading, readSpan, withFolder } from '../../base/files/index.js';

/** A file that belongs to a run, stored in the run folder, a packed run or the archive. */
export interface RunFile {
  /** The path relative to the run folder, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Returns undefined if it was deleted, or is no longer a regular file. */
  open(): Promise<ReadableFile | undefined>;
}

/** Far more levels and files than a real run folder has. */
const MAX_DEPTH = 32;
const MAX_FILES = 100_000;

interface Walk extends TrustedRoot {
  /** Called if more files or levels exist than are listed. */
  readonly onLimit?: () => void;
}

/** Lists the regular files in a folder, sorted by name within each folder. Links, as agents create, are skipped. */
export async function* walkRunFolder(
  root: string,
  { trustedRoot = root, onLimit = () => undefined }: Walk = {},
): AsyncGenerator<RunFile> {
  let left = MAX_FILES;

  async function* walk(dir: string, path: string, depth: number): AsyncGenerator<RunFile> {
    for (const { name, size, mtimeMs, isFolder } of await listEntries(dir, trustedRoot, left + 1)) {
      if (left <= 0) return onLimit();
      left -= 1;
      const full = join(dir, name);
      if (!isFolder)
        yield { path: `${path}${name}`, size, mtimeMs, open: async () => openIfRegular(full, { trustedRoot }) };
      else if (depth < MAX_DEPTH) yield* walk(full, `${path}${name}/`, depth + 1);
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

/** Lists files and folders, sorted, so the order is always the same. */
async function listEntries(dir: string, trustedRoot: string, max: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const work = async (place: string): Promise<void> => {
    for await (const { name } of await opendir(place)) {
      if (entries.length >= max) break;
      const found = await lstat(join(place, name)).catch(() => undefined);
      if (found === undefined || !(found.isFile() || found.isDirectory())) continue;
      entries.push({ name, isFolder: found.isDirectory(), size: found.size, mtimeMs: found.mtimeMs });
    }
  };
  await withFolder(dir, { trustedRoot }, { work });
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Opens a file; undefined if it does not exist, or is not a regular file. */
export async function openIfRegular(
  path: string,
  root: TrustedRoot,
): Promise<(ReadableFile & { readonly fd: number }) | undefined> {
  try {
    return await openForReading(path, root);
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

/** Reads the last bytes of a file, at most `maxBytes`, and its size; undefined if it does not exist. */
export async function readEnd(
  open: OpenFile,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly size: number } | undefined> {
  const file = await open();
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    return { bytes: await readSpan(file, size - length, length), size };
  } finally {
    await file.close();
  }
}
