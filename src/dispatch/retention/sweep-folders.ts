import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import type { Upkeep } from '../../store/index.js';

/** Names in one query to the store. */
const NAMES_AT_ONCE = 500;

/**
 * Removes the folders of runs that were forgotten, at most so many; returns how many. A folder whose run the store does not
 * know belongs to someone else, and stays. Each machine sweeps its own data folder.
 */
export async function sweepFolders(
  store: Pick<Upkeep, 'findForgottenRuns'>,
  data: string,
  most: number,
): Promise<number> {
  const folder = join(data, 'runs');
  let removed = 0;
  for await (const names of inGroups(folder)) {
    for (const id of await store.findForgottenRuns(names)) {
      if (removed >= most) return removed;
      await rm(join(folder, id), { recursive: true, force: true });
      removed += 1;
    }
  }
  return removed;
}

async function* inGroups(folder: string): AsyncGenerator<readonly string[]> {
  let names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      // A link was not made by us; what it leads to is not ours to remove.
      if (!entry.isDirectory()) continue;
      names.push(entry.name);
      if (names.length < NAMES_AT_ONCE) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    // No run has begun here yet.
    if (getErrorCode(error) !== 'ENOENT') throw error;
  }
  if (names.length > 0) yield names;
}
