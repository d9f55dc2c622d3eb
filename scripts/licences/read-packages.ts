import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBundledPackages } from './bundled-packages.js';
import { readLock, type LockedPackage } from './read-lock.js';

/** The packages of a project: those of its lock file, with what its console contains marked as distributed. */
export async function readPackages(project: string): Promise<LockedPackage[]> {
  const bundled = await findBundledPackages(join(project, 'web'));
  return readLock(await readFile(join(project, 'package-lock.json'), 'utf8'), bundled);
}
