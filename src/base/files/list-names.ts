import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { getErrorCode } from '../index.js';

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
