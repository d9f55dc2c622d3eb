import { lstat, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, readSmallFile } from '../../../base/files/index.js';
import { type Mount, isWithin } from './mount.js';
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
export async function findGitFolders(
  workdir: string,
  {
    home,
    guard,
    isAllowed,
    commits = false,
  }: {
    readonly home: string;
    readonly guard: GuardGit;
    /** Whether a repository in a folder above the working folder may be read. */
    readonly isAllowed: (folder: string) => boolean;
    /** Whether the agent may commit in a linked worktree, on any branch. */
    readonly commits?: boolean | undefined;
  },
): Promise<readonly Mount[]> {
  const git = join(workdir, '.git');
  const stats = await lstat(git).catch(() => undefined);
  if (stats === undefined) return findRepositoryAbove(workdir, home, isAllowed);
  const shared = stats.isFile() ? await findCommonFolder(git) : undefined;
  if (shared === undefined) return guardGitFolder(workdir, guard);
  const own = commits ? await allowCommits(shared, guard) : [];
  return [...(await guardGitFolder(workdir, guard)), ...mountReadOnly(shared.common), ...own];
}

/** Returns the mounts for committing in a worktree: only what a commit writes, and nothing of the other worktrees. */
async function allowCommits({ common, worktree }: SharedFolder, guard: GuardGit): Promise<readonly Mount[]> {
  const folders = ['objects', 'refs/heads', 'logs/refs/heads'].map((name) => join(common, name));
  const found = await Promise.all(folders.map(async (path) => ((await isOwnFolder(path)) ? [path] : [])));
  return [
    ...found.flat().map((path): Mount => ({ kind: 'write', at: path, from: path })),
    ...(await guardRepository(worktree, guard)),
    ...mountReadOnly(join(worktree, 'gitdir')),
  ];
}

/** Counts the sandboxes that use a git directory. */
export interface GitGuards {
  /** Adds this sandbox; `create` creates the placeholders that are missing, and returns their names. */
  acquire(git: string, create: () => Promise<readonly string[]>): Promise<void>;
  /** Removes this sandbox, and after the last one the placeholders. */
  release(git: string): Promise<void>;
}

/** Creates the placeholders in a git directory. */
export type GuardGit = (git: string) => Promise<void>;

/** Guards git directories for one sandbox, until they are released. */
export function holdGuards(guards: GitGuards) {
  const held = new Set<string>();
  return {
    guard: async (git: string): Promise<void> => {
      if (held.has(git)) return;
      held.add(git);
      await guards.acquire(git, async () => createPlaceholders(git));
    },
    release: async (): Promise<void> => {
      for (const git of held) await guards.release(git).catch(() => undefined);
    },
  };
}

/** Returns the mounts that protect the configuration and hooks of a repository in a writable folder, if any. */
export async function guardGitFolder(folder: string, guard: GuardGit): Promise<readonly Mount[]> {
  const git = join(folder, '.git');
  const stats = await lstat(git).catch(() => undefined);
  if (stats?.isDirectory() === true) return guardRepository(git, guard);
  return stats?.isFile() === true ? mountReadOnly(git) : [];
}

/*
 * The search for repositories in subfolders is limited, so that a large folder does not delay a run. Package managers leave no
 * repositories in `node_modules`.
 */
const MAX_EXAMINED = 20_000;
const MAX_REPOSITORIES = 64;
const SKIPPED_NAMES = ['.git', 'node_modules'];
const BATCH = 64;

interface Search {
  readonly folder: string;
  /** Folders that are not searched: they are hidden, or have their own mount, which may be read-only. */
  readonly skipped: readonly string[];
  readonly guard: GuardGit;
}

/** Protects repositories in subfolders, and targets of `.git` links, within limits; `isComplete`: all were examined. */
export async function guardNestedRepositories(
  search: Search,
): Promise<{ readonly mounts: readonly Mount[]; readonly isComplete: boolean }> {
  const { folder, skipped, guard } = search;
  const mounts: Mount[] = [];
  let repositories = 0;
  const folders = [folder];
  let examined = 0;
  while (examined < folders.length) {
    if (examined >= MAX_EXAMINED) return { mounts, isComplete: false };
    const parents = folders.slice(examined, examined + BATCH);
    examined += parents.length;
    const lists = await Promise.all(
      parents.map(async (parent) => readdir(parent, { withFileTypes: true }).catch(() => [])),
    );
    for (const [index, entries] of lists.entries()) {
      const parent = parents[index] ?? folder;
      const git = entries.find(({ name }) => name === '.git');
      if (git !== undefined && (parent !== folder || git.isSymbolicLink())) {
        if (repositories === MAX_REPOSITORIES) return { mounts, isComplete: false };
        repositories += 1;
        mounts.push(...mountFoldersBetween(folder, join(parent, '.git')), ...(await guardGitFolder(parent, guard)));
        if (git.isSymbolicLink()) mounts.push(...(await guardLinkTarget(parent, search)));
      }
      for (const entry of entries) {
        const path = join(parent, entry.name);
        if (entry.isDirectory() && !SKIPPED_NAMES.includes(entry.name) && !skipped.includes(path)) folders.push(path);
      }
    }
  }
  return { mounts, isComplete: true };
}

/** Protects the target of a `.git` link if it is a git directory in its folder: an agent could have created the link. */
async function guardLinkTarget(parent: string, { folder, skipped, guard }: Search): Promise<readonly Mount[]> {
  const target = await realpath(join(parent, '.git')).catch(() => parent);
  const isInFolder = target !== parent && isWithin(target, parent) && (await realpath(folder)) === folder;
  const isGit = (await lstat(join(target, 'HEAD')).catch(() => undefined))?.isFile() === true;
  const isMounted = skipped.some(
    (path) => path !== folder && isWithin(path, folder) && (isWithin(target, path) || isWithin(path, target)),
  );
  if (!isInFolder || !isGit || isMounted) return [];
  return [...mountFoldersBetween(folder, target), ...(await guardRepository(target, guard))];
}

/** Mounts the folders between two paths, so that none of them can be renamed and replaced together with the repository inside. */
function mountFoldersBetween(folder: string, path: string): Mount[] {
  const parent = dirname(path);
  if (parent === folder) return [];
  return [...mountFoldersBetween(folder, parent), { kind: 'write', at: parent, from: parent }];
}

function mountReadOnly(path: string): Mount[] {
  return [{ kind: 'read', at: path, from: path }];
}

async function guardRepository(git: string, guard: GuardGit): Promise<Mount[]> {
  await guard(git);
  // A mount point, so it cannot be renamed and replaced by another folder.
  const mounts: Mount[] = [{ kind: 'write', at: git, from: git }];
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

/** Creates the placeholders that a git directory lacks, and returns their names. */
async function createPlaceholders(git: string): Promise<readonly string[]> {
  const hooks = join(git, 'hooks');
  if ((await lstat(hooks).catch(() => undefined)) === undefined) await makeFolder(hooks).catch(() => undefined);
  const created: string[] = [];
  for (const [name, content] of Object.entries(PLACEHOLDERS)) {
    const isCreated = await writeFile(join(git, name), content, { flag: 'wx' }).then(
      () => true,
      () => false,
    );
    if (isCreated) created.push(name);
  }
  return created;
}

/** Removes placeholders that were created in a git directory, unless their content has changed. */
export async function removePlaceholders(git: string, created: readonly string[]): Promise<void> {
  // An agent could have created a link to another repository, which might be in use.
  if ((await lstat(git).catch(() => undefined))?.isDirectory() !== true) return;
  for (const [name, placeholder] of Object.entries(PLACEHOLDERS)) {
    if (!created.includes(name)) continue;
    const path = join(git, name);
    const content = await readSmallFile(path, MAX_BYTES).catch(() => undefined);
    if (content === placeholder) await rm(path, { force: true });
  }
}

/** Finds the git directory of a worktree; undefined unless it points back to the `.git` file. */
async function findCommonFolder(git: string): Promise<SharedFolder | undefined> {
  const gitFolder = /^gitdir: (.+)$/m.exec((await readTrimmed(git)) ?? '')?.[1];
  if (gitFolder === undefined) return undefined;
  const worktree = await realpath(resolve(dirname(git), gitFolder)).catch(() => undefined);
  if (worktree === undefined) return undefined;
  const common = dirname(dirname(worktree));
  if (worktree !== join(common, 'worktrees', basename(worktree))) return undefined;
  const backLink = await readTrimmed(join(worktree, 'gitdir'));
  const target =
    backLink === undefined ? undefined : await realpath(resolve(worktree, backLink)).catch(() => undefined);
  return target === (await realpath(git)) && (await isOwnFolder(common)) ? { common, worktree } : undefined;
}

/** The git directory of a repository, and the part of it that belongs to a linked worktree. */
type SharedFolder = Readonly<Record<'common' | 'worktree', string>>;

async function readTrimmed(path: string): Promise<string | undefined> {
  const text = await readSmallFile(path, MAX_BYTES).catch(() => undefined);
  return text?.trim();
}

/** A run in a subfolder of a repository can read the entire repository, if it may, and change only that folder. */
async function findRepositoryAbove(
  workdir: string,
  home: string,
  isAllowed: (folder: string) => boolean,
): Promise<readonly Mount[]> {
  for (let folder = dirname(workdir); !isBroad(folder, home); folder = dirname(folder)) {
    const git = join(folder, '.git');
    const stats = await lstat(git).catch(() => undefined);
    if (stats === undefined) continue;
    // In a folder that others may write to, the repository could be theirs.
    if (!isAllowed(folder) || !(await isOwnFolder(folder))) return [];
    if (stats.isDirectory()) return mountReadOnly(folder);
    const common = stats.isFile() ? (await findCommonFolder(git))?.common : undefined;
    if (common === undefined) return [];
    return isWithin(common, folder) ? mountReadOnly(folder) : [...mountReadOnly(folder), ...mountReadOnly(common)];
  }
  return [];
}

async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o002) === 0;
}
