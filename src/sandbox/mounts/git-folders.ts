import { lstat, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, readSmallFile } from '../../files/index.js';
import type { Mount } from './mount.js';
import { isWithin } from './mount.js';
import { isBroad } from './system-folders.js';

const LINE_BYTES = 16 * 1024;

/**
 * Git reads configuration and hooks from the directory that the file `commondir` names. It exists only in worktrees, so an agent
 * could create it in a plain repository. This content names the git directory itself, which changes nothing.
 */
const SAME_FOLDER = '.\n';

/**
 * Returns the mounts for the git directory of a working folder. That of a worktree is read-only. That of a plain repository is
 * writable except for its configuration and hooks, which git would execute later, outside the sandbox. Links are not followed,
 * and a `.git` file is accepted only if the directory it names points back to it: an agent could have written either.
 */
export async function findGitFolders(workdir: string, home: string): Promise<readonly Mount[]> {
  const git = join(workdir, '.git');
  const found = await lstat(git).catch(() => undefined);
  if (found?.isDirectory() === true) return guardRepository(git);
  if (found?.isFile() === true) {
    const common = await readWorktree(git);
    return common === undefined ? [] : [...mountReadOnly(git), ...mountReadOnly(common)];
  }
  return found === undefined ? findRepositoryAbove(workdir, home) : [];
}

function mountReadOnly(path: string): Mount[] {
  return [{ kind: 'read', at: path, from: path }];
}

async function guardRepository(git: string): Promise<Mount[]> {
  // A mount point, so that it cannot be renamed and replaced by another folder.
  const mounts: Mount[] = [{ kind: 'write', at: git, from: git }];
  const hooks = join(git, 'hooks');
  if ((await lstat(hooks).catch(() => undefined)) === undefined) await makeFolder(hooks).catch(() => undefined);
  await writeFile(join(git, 'commondir'), SAME_FOLDER, { flag: 'wx' }).catch(() => undefined);
  for (const name of ['commondir', 'config', 'config.worktree', 'hooks', 'modules', 'worktrees']) {
    const path = join(git, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() === true || found?.isDirectory() === true) mounts.push(...mountReadOnly(path));
  }
  return mounts;
}

/** Removes what {@link findGitFolders} added to the git directory of a working folder. */
export async function releaseGitFolders(workdir: string): Promise<void> {
  const path = join(workdir, '.git', 'commondir');
  const content = await readSmallFile(path, LINE_BYTES).catch(() => undefined);
  if (content === SAME_FOLDER) await rm(path, { force: true });
}

/** Returns the common git directory of a worktree. */
async function readWorktree(git: string): Promise<string | undefined> {
  const named = /^gitdir: (.+)$/m.exec((await readLine(git)) ?? '')?.[1];
  if (named === undefined) return undefined;
  const worktree = await realpath(resolve(dirname(git), named)).catch(() => undefined);
  if (worktree === undefined) return undefined;
  const common = dirname(dirname(worktree));
  if (worktree !== join(common, 'worktrees', basename(worktree))) return undefined;
  const back = await readLine(join(worktree, 'gitdir'));
  const target = back === undefined ? undefined : await realpath(resolve(worktree, back)).catch(() => undefined);
  return target === (await realpath(git)) && (await isOwnFolder(common)) ? common : undefined;
}

async function readLine(path: string): Promise<string | undefined> {
  const text = await readSmallFile(path, LINE_BYTES).catch(() => undefined);
  return text?.trim();
}

/** A run in a subfolder of a repository can read the entire repository, and change only that folder. */
async function findRepositoryAbove(workdir: string, home: string): Promise<readonly Mount[]> {
  for (let folder = dirname(workdir); !isBroad(folder, home); folder = dirname(folder)) {
    const git = join(folder, '.git');
    const found = await lstat(git).catch(() => undefined);
    if (found === undefined) continue;
    // In a folder that others may write to, the repository may be theirs.
    if (!(await isOwnFolder(folder))) return [];
    if (found.isDirectory()) return mountReadOnly(folder);
    const common = found.isFile() ? await readWorktree(git) : undefined;
    if (common === undefined) return [];
    return isWithin(common, folder) ? mountReadOnly(folder) : [...mountReadOnly(folder), ...mountReadOnly(common)];
  }
  return [];
}

async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o002) === 0;
}
