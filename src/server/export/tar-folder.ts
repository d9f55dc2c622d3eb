import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError } from '../../base/index.js';
import { openForReading } from '../../files/index.js';
import { padding, TAR_END, tarHeader } from './tar-header.js';

const CHUNK = 64 * 1024;
/** A run folder has a few levels and files; one that has more holds something else. */
export const DEEPEST_FOLDER = 32;
const MOST_ENTRIES = 100_000;

/**
 * A folder as a tar archive, while it may still be written to: each file is as long as it was when its turn came. Links and
 * whatever else is neither file nor folder are left out: a worker may have put them there.
 *
 * @example
 * for await (const bytes of tarFolder('/data/runs/01J…', '01J…')) response.write(bytes)
 */
export async function* tarFolder(folder: string, name: string): AsyncGenerator<Uint8Array, void> {
  let entries = 0;

  async function* walk(dir: string, path: string, depth: number): AsyncGenerator<Uint8Array, void> {
    const { mtimeMs } = await lstat(dir);
    yield tarHeader({ path: `${path}/`, size: 0, mtimeMs, isFolder: true });
    for (const entry of await listEntries(dir, MOST_ENTRIES - entries)) {
      entries += 1;
      if (entry.isFile()) yield* tarFile(join(dir, entry.name), `${path}/${entry.name}`);
      else if (entry.isDirectory() && depth < DEEPEST_FOLDER) {
        yield* walk(join(dir, entry.name), `${path}/${entry.name}`, depth + 1);
      }
    }
  }

  yield* walk(folder, name, 1);
  yield TAR_END;
}

/** By name, so that the same folder gives the same archive. */
async function listEntries(dir: string, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(dir)) {
    if (entries.length >= most) break;
    entries.push(entry);
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function* tarFile(path: string, name: string): AsyncGenerator<Uint8Array, void> {
  const handle = await openIfRegular(path);
  if (handle === undefined) return;
  try {
    const { size, mtimeMs } = await handle.stat();
    yield tarHeader({ path: name, size, mtimeMs, isFolder: false });
    for (let at = 0; at < size;) {
      // What was cut off meanwhile is filled up: the header has promised the size.
      const chunk = new Uint8Array(Math.min(CHUNK, size - at));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
      const read = bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead);
      yield read;
      at += read.length;
    }
    yield padding(size);
  } finally {
    await handle.close();
  }
}

/** What was replaced by a link since it was listed, or is gone, is left out. */
async function openIfRegular(path: string): Promise<FileHandle | undefined> {
  try {
    return await openForReading(path);
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}
