import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPresent, makeFolder } from '../../base/files/index.js';
import { runGit } from './run-git.js';

const IDENTITY = ['-c', 'user.name=sluice', '-c', 'user.email=sluice@example.org', '-c', 'commit.gpgsign=false'];

/**
 * Creates a small repository for the demo's agents in the data folder. Without git it is a plain folder, and the agents
 * report a pull request instead of a commit.
 */
export async function makeDemoRepository(data: string): Promise<string> {
  const folder = getDemoFolder(data);
  await makeFolder(folder);
  // Looks only in this folder: the data folder can be inside another repository, whose history must not change.
  if (await isPresent(join(folder, '.git'))) return folder;
  await writeFile(join(folder, 'README.md'), '# A repository to try Sluice in\n');
  // If this failed, the next commands would change the history of a repository that contains the data folder.
  if ((await runGit(folder, ['init', '--quiet'])).code !== 0) return folder;
  await runGit(folder, ['add', '--', 'README.md']);
  await runGit(folder, [...IDENTITY, 'commit', '--quiet', '-m', 'Initial commit']);
  return folder;
}

/** Whether a demo has run with this data folder. */
export async function hasDemoRepository(data: string): Promise<boolean> {
  return isPresent(getDemoFolder(data));
}

function getDemoFolder(data: string): string {
  return join(data, 'demo-repository');
}
