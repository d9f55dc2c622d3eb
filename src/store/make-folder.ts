import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCodeOf } from '../json/error-code.js';

/**
 * Makes a folder and those above it that are missing; one that is there is left as it is. Not `recursive: true` of
 * `mkdir`: where a folder is there and nothing can be made in it (`/proc`), Node.js tries for ever. A store imports no
 * code of `audit`, which does the same for its own folders.
 *
 * @example
 * makeFolder('data/databases')
 */
export function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (errorCodeOf(error) !== 'ENOENT' || parent === path) throw error;
    makeFolder(parent);
    makeOne(path);
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
