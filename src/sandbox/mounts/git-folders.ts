import { lstat, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, readSmallFile } from '../../files/index.js';
import type { Mount } from './mount.js';
import { isWithin } from './mount.js';
import { isBroad } from './system-folders.js';

const MAX_BYTES = 16 * 1024;

/**
 * Files in a git directory that determine what git executes, and that an agent could create if they are missing. They
 * are created with content that has no effect: `commondir` names the directory whose configuration and hooks git uses,
 * here the git directory itself.
 */
const PLACEHOLDERS = { commondir: '.\n', config: '', 'config.worktree': '' } as const;

/** Entries of a git directory that a sandboxed agent must not change, because git would execute what they name. */
const GUARDED_NAMES = [...Object.keys(PLACEHOLDERS), 'hooks', 'modules', 'worktrees'];

/**
 * Returns the mounts for a working folder's git directory. In a worktree it is read-only. In a plain repository it is
 * writable except for its configuration and hooks, which git would execute later, outside the sandbox. Links are not
 * followed, and the directory named by a `.git` file is mounted only if it points back to that file, because an agent
 * could have written either. The `.git` file itself is always read-only, because git would load its configuration from
 * any directory it names.
 */
export async function findGitFolders(workdir: string, home: string): Promise<readonly Mount[]> {
  const git = join(workdir, '.git');
  const stats = await lstat(git).catch(() => undefined);
  if (stats === undefined) return findRepositoryAbove(workdir, home);
  const common = stats.isFile() ? await findCommonFolder(git) : undefined;
  return [...(await guardGitFolder(workdir)), ...(common === undefined ? [] : mountReadOnly(common))];
}

/** Returns the mounts that protect the configuration and hooks of a repository in a writable folder, if any. */
export async function guardGitFolder(folder: string): Promise<readonly Mount[]> {
  const git = join(folder, '.git');
  const stats = await lstat(git).catch(() => undefined);
  if (stats?.isDirectory() === true) return guardRepository(git);
  return stats?.isFile() === true ? mountReadOnly(git) : [];
}

function mountReadOnly(path: string): Mount[] {
  return [{ kind: 'read', at: path, from: path }];
}

async function guardRepository(git: string): Promise<Mount[]> {
  // A mount point, so it cannot be renamed and replaced by another folder.
  const mounts: Mount[] = [{ kind: 'write', at: git, from: git }];
  const hooks = join(git, 'hooks');
  if ((await lstat(hooks).catch(() => undefined)) === undefined) await makeFolder(hooks).catch(() => undefined);
  for (const [name, content] of Object.entries(PLACEHOLDERS)) {
    await writeFile(join(git, name), content, { flag: 'wx' }).catch(() => undefined);
  }
  for (const name of GUARDED_NAMES) {
    const path = join(git, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) continue;
    // A link cannot be a mount point, so the agent could replace it; only a read-only git directory prevents that.
    if (!stats.isFile() && !stats.isDirectory()) return mountReadOnly(git);
    mounts.push(...mountReadOnly(path));
  }
  return mounts;
}

/** Removes the files that {@link guardGitFolder} added to a folder's git directory. */
export async function releaseGitFolder(folder: string): Promise<void> {
  const git = join(folder, '.git');
  // An agent could have created a link to another repository, which might be in use.
  if ((await lstat(git).catch(() => undefined))?.isDirectory() !== true) return;
  for (const [name, placeholder] of Object.entries(PLACEHOLDERS)) {
    const path = join(git, name);
    const content = await readSmallFile(path, MAX_BYTES).catch(() => undefined);
    if (content === placeholder) await rm(path, { force: true });
  }
}

/**
 * Finds the git directory that a worktree shares with its repository; undefined unless it points back to the `.git`
 * file and belongs to this user.
 */
async function findCommonFolder(git: string): Promise<string | undefined> {
  const gitFolder = /^gitdir: (.+)$/m.exec((await readTrimmed(git)) ?? '')?.[1];
  if (gitFolder === undefined) return undefined;
  const worktree = await realpath(resolve(dirname(git), gitFolder)).catch(() => undefined);
  if (worktree === undefined) return undefined;
  const common = dirname(dirname(worktree));
  if (worktree !== join(common, 'worktrees', basename(worktree))) return undefined;
  const backLink = await readTrimmed(join(worktree, 'gitdir'));
  const target =
    backLink === undefined ? undefined : await realpath(resolve(worktree, backLink)).catch(() => undefined);
  return target === (await realpath(git)) && (await isOwnFolder(common)) ? common : undefined;
}

async function readTrimmed(path: string): Promise<string | undefined> {
  const text = await readSmallFile(path, MAX_BYTES).catch(() => undefined);
  return text?.trim();
}

/** A run in a subfolder of a repository can read the entire repository, and change only that folder. */
async function findRepositoryAbove(workdir: string, home: string): Promise<readonly Mount[]> {
  for (let folder = dirname(workdir); !isBroad(folder, home); folder = dirname(folder)) {
    const git = join(folder, '.git');
    const stats = await lstat(git).catch(() => undefined);
    if (stats === undefined) continue;
    // In a folder that others may write to, the repository could be theirs.
    if (!(await isOwnFolder(folder))) return [];
    if (stats.isDirectory()) return mountReadOnly(folder);
    const common = stats.isFile() ? await findCommonFolder(git) : undefined;
    if (common === undefined) return [];
    return isWithin(common, folder) ? mountReadOnly(folder) : [...mountReadOnly(folder), ...mountReadOnly(common)];
  }
  return [];
}

async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o002) === 0;
}
