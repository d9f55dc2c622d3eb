import { realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isPresent, makeFolder, readSmallFile } from '../../base/files/index.js';
import { describeGitFailure, runGit } from './run-git.js';
import type { CallGit, GitFilters, GitResult } from './run-git.js';
import { getRepositoryFolder } from '../repos/repos.js';
import { explainMissingContent } from './git-lfs.js';
import type { WorkOrder, WorkRequest } from '../../store/records/index.js';
import { withGitDir } from './repository.js';
import type { RepositoryStart } from './repository.js';

/** A folder for a single order, on its own branch of the repository. */
export interface Worktree {
  readonly repoDir: string;
  readonly folder: string;
  readonly branch: string;
  /** The filters that may run on its files; none by default. */
  readonly filters?: GitFilters;
}

/**
 * Chooses where an order works: in a worktree or in `repo_dir`. The request's `isolation` takes precedence; otherwise every order in a git repository
 * gets a worktree. Only a folder outside any repository, or one that its repository ignores, is used itself: no
 * worktree would contain its files.
 *
 * @example
 * await chooseIsolation({ repo_dir: '/srv/shop' }) // 'worktree' if /srv/shop is a git repository
 */
export async function chooseIsolation({
  isolation,
  race,
  repo,
  repo_dir,
}: Pick<WorkRequest, 'isolation' | 'race' | 'repo' | 'repo_dir'>): Promise<'repository' | 'worktree'> {
  if (isolation !== undefined) return isolation === 'worktree' ? 'worktree' : 'repository';
  if (race !== undefined || repo !== undefined) return 'worktree';
  return (await isInRepository(repo_dir)) ? 'worktree' : 'repository';
}

/** Whether git keeps the history of a folder, or would if it were committed. */
async function isInRepository(folder: string): Promise<boolean> {
  // The folder itself is in the current commit: the usual case, answered by one call.
  const committed = await runGit(folder, ['rev-parse', '--quiet', '--verify', 'HEAD:./']);
  if (committed.code === 0) return true;
  const [repository, ignored] = await Promise.all([
    runGit(folder, ['rev-parse', '--git-dir']),
    runGit(folder, ['check-ignore', '--quiet', '.']),
  ]);
  return repository.code === 0 && ignored.code !== 0;
}

/** Returns the worktree of an order; a retry uses the path of the previous run, on a new branch. */
export function getWorktree(
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

/** Checking out a large repository takes time. */
const LONG = { timeLimitMs: 300_000 };

/** Creates a worktree on a new branch from the start of the work; returns a message if that fails. */
export async function createWorktree(
  worktree: Worktree,
  start?: KnownRepository,
): Promise<{ readonly error?: string }> {
  const { repoDir, folder } = worktree;
  const commit = start?.head ?? 'HEAD';
  await makeFolder(dirname(folder));
  const isNew = !(await isPresent(folder));
  const added = isNew ? await addWorktree(worktree, commit) : undefined;
  // Leftovers of an earlier attempt are removed first.
  const error = added?.code === 0 ? undefined : await replaceWorktree(worktree, commit);
  if (error !== undefined) return { error };
  const filled = await withPrivateGitDir(worktree, async (call) => call(['read-tree', '--reset', '-u', 'HEAD']), start);
  return filled.code === 0 ? {} : { error: describeFailure(repoDir, filled) };
}

/** Adds the worktree without files: writing them here would run the filters that the repository configures. */
async function addWorktree(
  { repoDir, folder, branch }: Worktree,
  commit: string,
  { hasBranch = false }: { readonly hasBranch?: boolean } = {},
): Promise<GitResult> {
  const target = hasBranch ? ['--', folder, branch] : ['-b', branch, '--', folder, commit];
  return runGit(repoDir, ['worktree', 'add', '--quiet', '--no-checkout', ...target], LONG);
}

/** Replaces a worktree that was left by a claim released before its process started: no agent has worked there. */
async function replaceWorktree(worktree: Worktree, commit: string): Promise<string | undefined> {
  const { repoDir, folder, branch } = worktree;
  await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], LONG);
  await rm(folder, { recursive: true, force: true });
  // An existing branch is used only if it points to the commit a new branch would: it is never reset.
  const [tip, base] = await Promise.all(
    [`refs/heads/${branch}`, commit].map(async (name) =>
      runGit(repoDir, ['rev-parse', '--quiet', '--verify', `${name}^{commit}`]),
    ),
  );
  if (tip?.code === 0 && tip.stdout !== base?.stdout) return `the branch ${branch} exists already`;
  const added = await addWorktree(worktree, commit, { hasBranch: tip?.code === 0 });
  return added.code === 0 ? undefined : describeFailure(repoDir, added);
}

function describeFailure(repoDir: string, failed: GitResult): string {
  const { code, stderr } = failed;
  if (code === 'no_git') return 'isolation "worktree" needs git, which is not installed';
  if (stderr.includes('not a git repository')) {
    return `isolation "worktree" needs a git repository, and "${repoDir}" is not one`;
  }
  const missing = explainMissingContent(stderr, repoDir);
  if (missing !== undefined) return missing;
  return `git cannot create a worktree of "${repoDir}": ${describeGitFailure(failed)}`;
}

/**
 * Removes a worktree, unless it contains uncommitted changes. Commits stay in the repository, on the branch; a branch without
 * new commits is removed too.
 */
async function removeIfUnchanged(
  worktree: Worktree,
  isCommitted: boolean,
): Promise<'removed' | 'changed' | 'not_removable'> {
  const { repoDir, folder, branch } = worktree;
  if (!(await isPresent(folder))) return 'removed';
  if (!isCommitted && (await listUncommitted(worktree)).length > 0) return 'changed';
  // With force, because git would otherwise check for changes itself, through the repository's configured filters.
  const removed = await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], LONG);
  if (removed.code !== 0) return 'not_removable';
  // Without force, so git refuses if the branch has commits that no other branch has; it always does after Sluice
  // committed.
  if (!isCommitted) await runGit(repoDir, ['branch', '--quiet', '--delete', '--', branch]);
  return 'removed';
}

/** Lists changed and untracked files that git does not ignore; the folder itself if git cannot read it. */
export async function listUncommitted(worktree: Pick<Worktree, 'folder' | 'filters'>): Promise<readonly string[]> {
  const { folder } = worktree;
  const status = await withPrivateGitDir(worktree, async (call) => {
    // Git would query the state of a repository inside the worktree with that repository's own configuration.
    const [nested] = await findNestedRepositories(call, folder, 'HEAD');
    const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=normal', '--ignore-submodules=all'];
    const listing = { maxBytes: MAX_LISTING };
    return nested === undefined
      ? call(['status', ...flags], listing)
      : { code: 0, stdout: `?? ${nested}\0`, stderr: '' };
  });
  // Each entry is two letters, a space and the path.
  return status.code === 0 ? status.stdout.split('\0').flatMap((entry) => entry.slice(3) || []) : [folder];
}

const MAX_LISTING = 64 * 1024 * 1024;

/** Finds the submodules of a commit that have a repository in the worktree. */
export async function findNestedRepositories(
  call: CallGit,
  folder: string,
  commit: string,
): Promise<readonly string[]> {
  const listed = await call(['ls-tree', '-r', '-z', '--full-tree', commit], { maxBytes: 256 * 1024 * 1024 });
  if (listed.code !== 0) return ['.'];
  const modules = listed.stdout.split('\0').filter((row) => row.startsWith('160000 '));
  const paths = modules.map((row) => row.slice(row.indexOf('\t') + 1));
  const submodules: string[] = [];
  for (const path of paths) if (await isPresent(join(folder, path, '.git'))) submodules.push(path);
  return submodules;
}

/**
 * Removes the worktree of an order that has ended; returns a note for the inbox if it was kept. A fully committed
 * worktree is not searched again.
 */
export async function removeWorktree(
  worktree: Worktree | undefined,
  { isCommitted = false }: { readonly isCommitted?: boolean } = {},
): Promise<{ readonly note?: string }> {
  const outcome = worktree === undefined ? 'removed' : await removeIfUnchanged(worktree, isCommitted);
  if (worktree === undefined || outcome === 'removed') return {};
  const why = outcome === 'changed' ? 'has uncommitted changes' : 'could not be removed';
  return { note: `Its worktree "${worktree.folder}" ${why}.` };
}

/**
 * Calls git on the files of a worktree with a private git directory: the repository's objects, the worktree's index and
 * commit, and only our configuration. So none of the repository's filters, hooks or monitors can run, only the
 * worktree's filters.
 */
export async function withPrivateGitDir(
  { folder, filters = {} }: Pick<Worktree, 'folder' | 'filters'>,
  work: (call: CallGit) => Promise<GitResult>,
  known?: KnownRepository,
): Promise<GitResult> {
  const paths = (await locateKnown(folder, known)) ?? (await locate(folder));
  if ('code' in paths) return paths;
  const { objects, index, exclude, format, head } = paths;
  return withGitDir({ format }, async (gitDir) => {
    await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
    await writeFile(join(gitDir, 'HEAD'), `${head}\n`);
    const options = { ...LONG, gitDir, workTree: folder, indexFile: index, filters };
    // The exclude file is a list of patterns and runs nothing.
    const ignored = ['-c', `core.excludesFile=${exclude}`];
    return work(async (args, extraOptions = {}) =>
      runGit(folder, [...ignored, ...args], { ...options, ...extraOptions }),
    );
  });
}

/** The repository of a new worktree, as recorded before the worktree was created. */
type KnownRepository = Pick<RepositoryStart, 'objects' | 'format' | 'head' | 'exclude'>;

/** A worktree's commit, and absolute paths. */
interface WorktreePaths extends KnownRepository {
  readonly index: string;
}

/** Locates the files of a worktree by calling git. */
async function locate(folder: string): Promise<WorktreePaths | GitResult> {
  const paths = ['objects', 'index', 'info/exclude'].flatMap((path) => ['--git-path', path]);
  const output = await runGit(folder, ['rev-parse', ...paths, '--show-object-format', 'HEAD']);
  const [objects = '', index = '', exclude = '', format = '', head = ''] = output.stdout.trim().split('\n');
  if (output.code !== 0 || head === '') return output;
  return {
    objects: await realpath(resolve(folder, objects)),
    index: resolve(folder, index),
    exclude: resolve(folder, exclude),
    format,
    head,
  };
}

/** Locates the index of a new worktree from the `.git` file that git has just written, which saves a git process. */
async function locateKnown(folder: string, known: KnownRepository | undefined): Promise<WorktreePaths | undefined> {
  if (known === undefined) return undefined;
  const link = await readSmallFile(join(folder, '.git'), LINK_BYTES).catch(() => undefined);
  const gitDir = /^gitdir: (?<path>.+)\n$/.exec(link ?? '')?.groups?.['path'];
  return gitDir === undefined ? undefined : { ...known, index: join(resolve(folder, gitDir), 'index') };
}

const LINK_BYTES = 16 * 1024;
