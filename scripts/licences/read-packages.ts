import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBundledPackages } from './bundled-packages.js';
import { readLock, type LockedPackage } from './read-lock.js';

/** The packages of a project: those of its lock file, with what its console brings along marked as given to users. */
export async function readPackages(project: string): Promise<LockedPackage[]> {
  const bundled = await findBundledPackages(join(project, 'web'));
  return readLock(await readFile(join(project, 'package-lock.json'), 'utf8'), bundled);
}
