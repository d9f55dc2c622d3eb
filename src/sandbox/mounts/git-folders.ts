import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, readSmallFile } from '../../files/index.js';
import type { Mount } from './mount.js';
import { isWithin } from './mount.js';
import { isBroad } from './system-folders.js';

const LINE_BYTES = 16 * 1024;

/**
 * Finds how to mount the git directory of a working folder. Of a worktree it is read-only. That of a plain repository can
 * be written to, but for what git would execute later, outside: its configuration and hooks. Links are not followed, and a
 * `.git` file counts only if the directory it names points back: either could be an agent's.
 */
export async function findGitFolders(workdir: string, home: string): Promise<readonly Mount[]> {
  const git = join(workdir, '.git');
  const found = await lstat(git).catch(() => undefined);
  if (found?.isDirectory() === true) return guardRepository(git);
  if (found?.isFile() === true) {
    const common = await readWorktree(git);
    return common === undefined ? [] : [...read(git), ...read(common)];
  }
  return found === undefined ? findRepositoryAbove(workdir, home) : [];
}

function read(path: string): Mount[] {
  return [{ kind: 'read', at: path, from: path }];
}

async function guardRepository(git: string): Promise<Mount[]> {
  // By itself a mount, so that it cannot be renamed and replaced by another.
  const mounts: Mount[] = [{ kind: 'write', at: git, from: git }];
  const hooks = join(git, 'hooks');
  if ((await lstat(hooks).catch(() => undefined)) === undefined) await makeFolder(hooks).catch(() => undefined);
  for (const name of ['config', 'config.worktree', 'hooks', 'modules', 'worktrees']) {
    const path = join(git, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() === true || found?.isDirectory() === true) mounts.push(...read(path));
  }
  return mounts;
}

/** The common git directory of a worktree. */
async function readWorktree(git: string): Promise<string | undefined> {
  const named = /^gitdir: (.+)$/m.exec((await readLine(git)) ?? '')?.[1];
  if (named === undefined) return undefined;
  const own = await realpath(resolve(dirname(git), named)).catch(() => undefined);
  if (own === undefined) return undefined;
  const common = dirname(dirname(own));
  if (own !== join(common, 'worktrees', basename(own))) return undefined;
  const back = await readLine(join(own, 'gitdir'));
  const points = back === undefined ? undefined : await realpath(resolve(own, back)).catch(() => undefined);
  return points === (await realpath(git)) && (await isOwnFolder(common)) ? common : undefined;
}

async function readLine(path: string): Promise<string | undefined> {
  const text = await readSmallFile(path, LINE_BYTES).catch(() => undefined);
  return text?.trim();
}

/** A run in a subfolder of a repository can read all of the repository, and change only that folder. */
async function findRepositoryAbove(workdir: string, home: string): Promise<readonly Mount[]> {
  for (let folder = dirname(workdir); !isBroad(folder, home); folder = dirname(folder)) {
    const git = join(folder, '.git');
    const found = await lstat(git).catch(() => undefined);
    if (found === undefined) continue;
    // In a folder that others may write to, the repository may be theirs.
    if (!(await isOwnFolder(folder))) return [];
    if (found.isDirectory()) return read(folder);
    const common = found.isFile() ? await readWorktree(git) : undefined;
    if (common === undefined) return [];
    return isWithin(common, folder) ? read(folder) : [...read(folder), ...read(common)];
  }
  return [];
}

async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o002) === 0;
}
