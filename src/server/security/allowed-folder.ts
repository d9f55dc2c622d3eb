import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { RequestError } from '../request-error.js';
import { isWithin } from './is-within.js';

/** Where requests may let agents work. */
export interface FolderRules {
  readonly roots: readonly string[];
  /** The data folder: what runs have left there is evidence, and no place to work in. */
  readonly data: string;
}

/**
 * The real path of a folder that a request may name. One outside of the roots and one that is not there are refused in
 * the same words, so that nobody learns what else is on the machine.
 */
export async function allowedFolder(folder: string, { roots, data }: FolderRules): Promise<string> {
  const real = isAbsolute(folder) ? await realPathOf(folder) : undefined;
  const allowed = await Promise.all(roots.map(realPathOf));
  const evidence = (await realPathOf(join(data, 'runs'))) ?? join(data, 'runs');
  if (real !== undefined && !isWithin(evidence, real)) {
    if (allowed.some((root) => root !== undefined && isWithin(root, real))) return real;
  }
  throw new RequestError(
    'FOLDER_NOT_ALLOWED',
    'The folder is not there, or not under one of the roots of the configuration. Name one that is, by its absolute path.',
  );
}

async function realPathOf(path: string): Promise<string | undefined> {
  // What cannot be looked at cannot be allowed.
  return realpath(path).catch(() => undefined);
}
