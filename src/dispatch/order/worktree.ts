import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPresent, makeFolder } from '../../files/index.js';
import { getRepositoryFolder, runGit } from '../../orders/index.js';
import { makeGitDir } from './git-dir.js';
import { explainMissingContent } from './git-lfs.js';
import type { GitEnd, GitFilters, GitOptions } from '../../orders/index.js';
import type { WorkOrder } from '../../records/index.js';

/** A folder for one order alone, on its own branch of the repository. */
export interface Worktree {
  readonly repoDir: string;
  readonly folder: string;
  readonly branch: string;
  /** The filters that may run on its files; none by default. */
  readonly filters?: GitFilters;
}

/** The worktree of an order that has one; a retry uses the path of the run before it, on a new branch. */
export function findWorktree(
  data: string,
  order: Pick<WorkOrder, 'repo' | 'repo_dir' | 'run_id' | 'start_folder'>,
  run: string,
  filters: GitFilters = {},
): Worktree {
  return {
    repoDir: getRepositoryFolder(data, order),
    folder: join(data, 'worktrees', order.start_folder ?? run),
    branch: `sluice/${order.run_id}-${run}`,
    filters,
  };
}

/** Checking out a large repository takes its time. */
const LONG = { timeLimitMs: 300_000 };

/** Makes a worktree, on a new branch from a commit; a message if that cannot be done. */
export async function createWorktree(worktree: Worktree, commit = 'HEAD'): Promise<{ readonly error?: string }> {
  const { repoDir, folder } = worktree;
  await makeFolder(dirname(folder));
  const isNew = !(await isPresent(folder));
  const made = isNew ? await addWorktree(worktree, commit) : undefined;
  // Where something is left of an earlier try, that is removed first.
  const error = made?.code === 0 ? undefined : await replaceWorktree(worktree, commit);
  if (error !== undefined) return { error };
  const filled = await withOwnGitDir(worktree, async (call) => {
    const read = await call(['read-tree', 'HEAD']);
    return read.code === 0 ? call(['checkout-index', '--all', '--force', '--quiet', '--index']) : read;
  });
  return filled.code === 0 ? {} : { error: describeFailure(repoDir, filled) };
}

/** Without files: writing them here would run the filters that the repository configures. */
async function addWorktree(
  { repoDir, folder, branch }: Worktree,
  commit: string,
  { hasBranch = false }: { readonly hasBranch?: boolean } = {},
): Promise<GitEnd> {
  const target = hasBranch ? ['--', folder, branch] : ['-b', branch, '--', folder, commit];
  return runGit(repoDir, ['worktree', 'add', '--quiet', '--no-checkout', ...target], LONG);
}

/** A claim that was released before its process started may have left a worktree; no agent has worked there. */
async function replaceWorktree(worktree: Worktree, commit: string): Promise<string | undefined> {
  const { repoDir, folder, branch } = worktree;
  await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], LONG);
  await rm(folder, { recursive: true, force: true });
  // An existing branch is used only if it points to the commit of a new one: it is never reset.
  const [tip, wanted] = await Promise.all(
    [`refs/heads/${branch}`, commit].map(async (name) =>
      runGit(repoDir, ['rev-parse', '--quiet', '--verify', `${name}^{commit}`]),
    ),
  );
  if (tip?.code === 0 && tip.stdout !== wanted?.stdout) return `the branch ${branch} exists already`;
  const made = await addWorktree(worktree, commit, { hasBranch: tip?.code === 0 });
  return made.code === 0 ? undefined : describeFailure(repoDir, made);
}

function describeFailure(repoDir: string, { code, stderr }: GitEnd): string {
  if (code === 'no_git') return 'isolation "worktree" needs git, which is not installed';
  if (stderr.includes('not a git repository')) {
    return `isolation "worktree" needs a git repository, and "${repoDir}" is not one`;
  }
  const missing = explainMissingContent(stderr, repoDir);
  if (missing !== undefined) return missing;
  return `git cannot create a worktree of "${repoDir}": ${stderr.trim().slice(-300)}`;
}

/**
 * Removes a worktree, unless it holds uncommitted changes. Commits stay in the repository, on the branch; a branch without
 * new commits is removed too.
 */
async function removeIfUnchanged(worktree: Worktree, isCommitted: boolean): Promise<'removed' | 'kept'> {
  const { repoDir, folder, branch } = worktree;
  if (!(await isPresent(folder))) return 'removed';
  if (!isCommitted && (await holdsChanges(worktree))) return 'kept';
  // By force: without it git would look for changes itself, through the filters that the repository configures.
  const removed = await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], LONG);
  if (removed.code !== 0) return 'kept';
  // Without force: git refuses where the branch has commits that no other branch has.
  await runGit(repoDir, ['branch', '--quiet', '--delete', '--', branch]);
  return 'removed';
}

async function holdsChanges(worktree: Worktree): Promise<boolean> {
  const { folder } = worktree;
  const status = await withOwnGitDir(worktree, async (call) => {
    // Git would ask a repository inside the worktree for its state, by its own configuration.
    const [nested] = await findNestedRepositories(call, folder, 'HEAD');
    const flags = ['--porcelain', '--untracked-files=normal', '--ignore-submodules=all'];
    return nested === undefined ? call(['status', ...flags]) : { code: 0, stdout: nested, stderr: '' };
  });
  return status.code !== 0 || status.stdout.trim() !== '';
}

/** Submodules of a commit that have a repository in the worktree. */
export async function findNestedRepositories(
  call: CallGit,
  folder: string,
  commit: string,
): Promise<readonly string[]> {
  const listed = await call(['ls-tree', '-r', '-z', '--full-tree', commit], { maxBytes: 256 * 1024 * 1024 });
  if (listed.code !== 0) return ['.'];
  const modules = listed.stdout.split('\0').filter((row) => row.startsWith('160000 '));
  const paths = modules.map((row) => row.slice(row.indexOf('\t') + 1));
  const found: string[] = [];
  for (const path of paths) if (await isPresent(join(folder, path, '.git'))) found.push(path);
  return found;
}

/**
 * Removes the worktree of an order that has ended; the note is for a person if it was kept. A worktree in which everything
 * is committed is not searched again.
 */
export async function removeWorktree(
  worktree: Worktree | undefined,
  { isCommitted = false }: { readonly isCommitted?: boolean } = {},
): Promise<{ readonly note?: string }> {
  if (worktree === undefined || (await removeIfUnchanged(worktree, isCommitted)) === 'removed') return {};
  return { note: `Its worktree "${worktree.folder}" has uncommitted changes.` };
}

export type CallGit = (args: readonly string[], options?: GitOptions) => Promise<GitEnd>;

/**
 * Calls git on the files of a worktree with a private git directory: the repository's objects, the worktree's index and
 * commit, and no configuration but ours. So no filter, hook or monitor of the repository can run, only the filters of the worktree.
 */
export async function withOwnGitDir(
  { folder, filters = {} }: Pick<Worktree, 'folder' | 'filters'>,
  work: (call: CallGit) => Promise<GitEnd>,
): Promise<GitEnd> {
  const paths = ['objects', 'index', 'info/exclude'].flatMap((path) => ['--git-path', path]);
  const found = await runGit(folder, ['rev-parse', ...paths, '--show-object-format', 'HEAD']);
  const [objects = '', index = '', exclude = '', format = '', head = ''] = found.stdout.trim().split('\n');
  if (found.code !== 0 || head === '') return found;
  const gitDir = await mkdtemp(join(tmpdir(), 'sluice-git-'));
  try {
    await makeGitDir(gitDir, format);
    await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${await realpath(resolve(folder, objects))}\n`);
    await writeFile(join(gitDir, 'HEAD'), `${head}\n`);
    const options = { ...LONG, gitDir, workTree: folder, indexFile: resolve(folder, index), filters };
    // The exclude file is a list of patterns and runs nothing.
    const ignored = ['-c', `core.excludesFile=${resolve(folder, exclude)}`];
    return await work(async (args, more = {}) => runGit(folder, [...ignored, ...args], { ...options, ...more }));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}
