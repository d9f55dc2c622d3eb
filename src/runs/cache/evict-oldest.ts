import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The suffix of a file while it is being written. An old file with this suffix was left by a crash. */
const TEMPORARY_SUFFIX = '.tmp';
const LEFTOVER_MS = 60 * 60 * 1000;

/** Removes a folder's least recently used files beyond the limits, but not `newest`. Others can do so concurrently. */
export async function evictOldest(
  folder: string,
  limits: { readonly files: number; readonly bytes: number },
  newest?: string,
): Promise<void> {
  const files: { readonly path: string; readonly size: number; readonly usedAt: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    // File times are coarse: multiple files can have the same time.
    const usedAt = path === newest ? Number.POSITIVE_INFINITY : stats.mtimeMs;
    if (!name.endsWith(TEMPORARY_SUFFIX)) files.push({ path, size: stats.size, usedAt });
    else if (Date.now() - stats.mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
  }
  files.sort((one, other) => other.usedAt - one.usedAt);
  let bytes = 0;
  for (const [index, { path, size }] of files.entries()) {
    bytes += size;
    if (index >= limits.files || bytes > limits.bytes) await rm(path, { force: true });
  }
}
