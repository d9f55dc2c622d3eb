import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBundledPackages } from './bundled-packages.js';
import { readLock, type LockedPackage } from './read-lock.js';

/** The packages of a project: those of its lock file, with what its console and its MCP server contain marked as distributed. */
export async function readPackages(project: string): Promise<LockedPackage[]> {
  const folders = ['web', 'src/mcp'].map(async (folder) => findBundledPackages(join(project, folder)));
  const bundled = (await Promise.all(folders)).flat();
  return readLock(await readFile(join(project, 'package-lock.json'), 'utf8'), bundled);
}
