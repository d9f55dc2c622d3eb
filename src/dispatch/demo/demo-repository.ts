import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../../orders/index.js';
import { makeFolder } from '../../files/index.js';

const IDENTITY = ['-c', 'user.name=sluice', '-c', 'user.email=sluice@example.org', '-c', 'commit.gpgsign=false'];

/**
 * A small repository for the demo's workers, in the data folder; where there is no git, a folder, and they report a pull
 * request instead.
 */
export async function makeDemoRepository(data: string): Promise<string> {
  const folder = folderIn(data);
  await makeFolder(folder);
  // A separate repository: the data folder may be inside another one, whose history must not change.
  if (await isFolder(join(folder, '.git'))) return folder;
  await writeFile(join(folder, 'README.md'), '# A repository to try Sluice in\n');
  await runGit(folder, ['init', '--quiet']);
  await runGit(folder, ['add', '--', 'README.md']);
  await runGit(folder, [...IDENTITY, 'commit', '--quiet', '-m', 'Begin']);
  return folder;
}

/** Whether a demo took place in this data folder. */
export async function hasDemoRepository(data: string): Promise<boolean> {
  return isFolder(folderIn(data));
}

function folderIn(data: string): string {
  return join(data, 'demo-repository');
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Whether there is something to work on: git, and a first commit. */
export async function hasCommit(folder: string): Promise<boolean> {
  return (await runGit(folder, ['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'])).code === 0;
}
