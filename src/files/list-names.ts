import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { getErrorCode } from '../base/index.js';

/**
 * The names that `choose` makes of the entries of a folder, in groups of at most `size`, so that memory stays flat however
 * many there are. None if the folder is missing.
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

/** The first names of {@link listNames}, at most `most`. */
export async function listFirstNames(
  folder: string,
  most: number,
  choose: (entry: Dirent) => string | undefined,
): Promise<readonly string[]> {
  for await (const names of listNames(folder, most, choose)) return names;
  return [];
}

/** Chooses folders; links to folders are left out, because what they lead to belongs to someone else. */
export function chooseFolder(entry: Dirent): string | undefined {
  return entry.isDirectory() ? entry.name : undefined;
}
