import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBundledPackages } from './bundled-packages.js';
import { readLock, type LockedPackage } from './read-lock.js';

/**
 * Lists the packages in a project's lock file; packages bundled into the console or the server are marked as shipped.
 */
export async function readPackages(project: string): Promise<LockedPackage[]> {
  const folders = ['web', 'src/server/acp', 'src/server/http', 'src/server/mcp'].map(async (folder) =>
    findBundledPackages(join(project, folder)),
  );
  const bundled = (await Promise.all(folders)).flat();
  return readLock(await readFile(join(project, 'package-lock.json'), 'utf8'), bundled);
}
