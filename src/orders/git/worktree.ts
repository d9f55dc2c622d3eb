import { copyFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setLatest } from '../../base/index.js';
import { isPresent, makeFolder, readSmallFile, removeFolder } from '../../base/files/index.js';
import { describeGitFailure, findCommit, runGit, type CallGit, type GitFilters, type GitResult } from './run-git.js';
import { getRepositoryFolder } from '../repos/repos.js';
import { explainMissingContent } from './git-lfs.js';
import type { WorkOrder, WorkRequest } from '../../store/records/index.js';
import { locateInRepository, readBranch, withGitDir, type RepositoryStart } from './repository.js';
import { deleteUnusedBranch, digestIndex, writeWorktree } from './worktree-files.js';

/** A folder for a single order, on its own branch of the repository. */
export interface Worktree {
  readonly repoDir: string;
  readonly folder: string;
  readonly branch: string;
  /** The filters that may run on its files; none by default. */
  readonly filters?: GitFilters;
}

/**
 * Chooses where an order works: in a worktree or in `repo_dir`. The request's `isolation` takes precedence; otherwise
 * every order in a git repository gets a worktree. Only a folder outside any repository, or one that its repository
 * ignores, is used itself: no worktree would contain its files.
 */
export async function chooseIsolation(
  request: Pick<WorkRequest, 'isolation' | 'race' | 'repo' | 'repo_dir'>,
): Promise<'repository' | 'worktree'> {
  const { isolation, race, repo, repo_dir } = request;
  if (isolation !== undefined) return isolation === 'worktree' ? 'worktree' : 'repository';
  if (race !== undefined || repo !== undefined) return 'worktree';
  return (await isInRepository(repo_dir)) ? 'worktree' : 'repository';
}

/** Whether git keeps the history of a folder, or would if it were committed. */
async function isInRepository(folder: string): Promise<boolean> {
  const location = await locateInRepository(folder);
  if (location !== 'unknown') return location === 'top';
  // The folder itself is in the current commit: the usual case below the top, answered by one call.
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
  const isWritten = isNew && start !== undefined && (await writeWorktree(worktree, start));
  const isAdded = isWritten || (isNew && (await addWorktree(worktree, commit)).code === 0);
  // Leftovers of an earlier attempt are removed first.
  const error = isAdded ? undefined : await replaceWorktree(worktree, commit);
  if (error !== undefined) return { error };
  const filled = await withPrivateGitDir({ ...worktree, start }, async (call, { index }) => {
    const written = await call(['read-tree', '--reset', '-u', 'HEAD']);
    const digest = written.code === 0 ? await digestIndex(index) : undefined;
    if (digest !== undefined) setLatest(unmarkedIndexes, MAX_KNOWN, folder, digest);
    return written;
  });
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
  const names = [`refs/heads/${branch}`, commit];
  const [tip, base] = await Promise.all(names.map(async (name) => findCommit(repoDir, name)));
  if (tip !== undefined && tip !== base) return `the branch ${branch} exists already`;
  const added = await addWorktree(worktree, commit, { hasBranch: tip !== undefined });
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
 * Removes the worktree of an order that has ended, unless it contains uncommitted changes. Commits stay in the repository, on
 * the branch; a branch without new commits is removed too. Returns a note for the inbox if the worktree was kept.
 * `isCommitted`: everything in it is committed, so it is not searched again. `start`: its repository before the work.
 */
export async function removeWorktree(
  worktree: Worktree | undefined,
  { isCommitted = false, start }: { readonly isCommitted?: boolean; readonly start?: KnownRepository | undefined } = {},
): Promise<{ readonly note?: string }> {
  if (worktree === undefined || !(await isPresent(worktree.folder))) return {};
  const { repoDir, folder, branch } = worktree;
  const keep = (why: string) => ({ note: `Its worktree "${folder}" ${why}.` });
  const isChanged = !isCommitted && (await listUncommitted({ ...worktree, start })).length > 0;
  if (isChanged) return keep('has uncommitted changes');
  if (!(await removeFiles(worktree, start))) return keep('could not be removed');
  // Without force, so git refuses if the branch has commits that no other branch has; it always does after Sluice
  // committed.
  const isDeleted = isCommitted || (start !== undefined && (await deleteUnusedBranch(branch, start)));
  if (!isDeleted) await runGit(repoDir, ['branch', '--quiet', '--delete', '--', branch]);
  return {};
}

/**
 * Removes a worktree's folder and its entry in the repository. Sluice made both, so they are removed without git if the
 * entry is where it should be; only git knows where else it could be.
 */
async function removeFiles({ repoDir, folder }: Worktree, start: KnownRepository | undefined): Promise<boolean> {
  const entry = start === undefined ? undefined : join(dirname(start.objects), 'worktrees', basename(folder));
  const link = entry === undefined ? undefined : await readSmallFile(join(entry, 'gitdir'), LINK_BYTES).catch(() => '');
  const isLocked = entry !== undefined && (await isPresent(join(entry, 'locked')));
  if (entry !== undefined && !isLocked && link === `${join(folder, '.git')}\n`) {
    const removals = await Promise.allSettled([folder, entry].map(async (each) => removeFolder(each)));
    return removals.every(({ status }) => status === 'fulfilled');
  }
  // With force, because git would otherwise check for changes itself, through the repository's configured filters.
  return (await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], LONG)).code === 0;
}

/** Lists changed and untracked files that git does not ignore; the folder itself if git cannot read it. */
export async function listUncommitted(worktree: WorktreeFiles): Promise<readonly string[]> {
  const { folder } = worktree;
  const status = await withPrivateGitDir(worktree, async (call, { head, index, gitDir }) => {
    // Git would query the state of a repository inside the worktree with that repository's own configuration.
    const [nested] = await findNestedRepositories(call, folder, head);
    const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=normal', '--ignore-submodules=all'];
    const listing = { maxBytes: MAX_LISTING };
    if (nested !== undefined) return { code: 0, stdout: `?? ${nested}\0`, stderr: '' };
    const known = unmarkedIndexes.get(folder);
    const isUnmarked = known !== undefined && known === (await digestIndex(index));
    const marked = isUnmarked ? [] : await listMarked(call, folder);
    if (marked.length === 0) return call(['status', ...flags], listing);
    const indexFile = join(gitDir, 'index');
    await copyFile(index, indexFile);
    const input = marked.map((path) => `${path}\0`).join('');
    for (const mark of ['--no-assume-unchanged', '--no-skip-worktree'])
      await call(['update-index', mark, '-z', '--stdin'], { indexFile, input });
    return call(['status', ...flags], { ...listing, indexFile });
  });
  // Each entry is two letters, a space and the path.
  return status.code === 0 ? status.stdout.split('\0').flatMap((entry) => entry.slice(3) || []) : [folder];
}

/** Digests of indexes as `read-tree` wrote them, without marked files, by worktree: they save a listing. */
const unmarkedIndexes = new Map<string, string>();

/**
 * Lists the files whose changes git does not report, because its index says that they are unchanged or not checked out.
 * A sparse checkout marks files that do not exist; changes of others are as uncommitted as any.
 */
async function listMarked(call: CallGit, folder: string): Promise<readonly string[]> {
  const { stdout } = await call(['ls-files', '-v', '-z'], { maxBytes: MAX_LISTING });
  const marked = stdout.split('\0').filter((entry) => /^[a-zS] /.test(entry));
  const present = await Promise.all(marked.map(async (entry) => isPresent(join(folder, entry.slice(2)))));
  return marked.flatMap((entry, index) => (present[index] === true ? [entry.slice(2)] : []));
}

const MAX_LISTING = 64 * 1024 * 1024;

/** Finds the submodules of a commit that have a repository in the worktree. */
export async function findNestedRepositories(
  call: CallGit,
  folder: string,
  commit: string,
): Promise<readonly string[]> {
  const paths = submodulesByCommit.get(commit) ?? (await listSubmodules(call, commit));
  if (paths === undefined) return ['.'];
  const submodules: string[] = [];
  for (const path of paths) if (await isPresent(join(folder, path, '.git'))) submodules.push(path);
  return submodules;
}

/** A commit never changes, and many orders start from the same one: the last answers save a listing of all its files. */
const submodulesByCommit = new Map<string, readonly string[]>();
const MAX_KNOWN = 100;
const MAX_KNOWN_SUBMODULES = 100;

async function listSubmodules(call: CallGit, commit: string): Promise<readonly string[] | undefined> {
  const listed = await call(['ls-tree', '-r', '-z', '--full-tree', commit], { maxBytes: 256 * 1024 * 1024 });
  if (listed.code !== 0) return undefined;
  const modules = listed.stdout.split('\0').filter((row) => row.startsWith('160000 '));
  const paths = modules.map((row) => row.slice(row.indexOf('\t') + 1));
  if (paths.length > MAX_KNOWN_SUBMODULES) return paths;
  setLatest(submodulesByCommit, MAX_KNOWN, commit, paths);
  return paths;
}

/**
 * Calls git on the files of a worktree with a private git directory: the repository's objects, the worktree's index and
 * commit, and only our configuration. So none of the repository's filters, hooks or monitors can run, only the
 * worktree's filters. A call that creates objects should name a folder for them.
 */
export async function withPrivateGitDir(
  { folder, branch, filters = {}, start }: WorktreeFiles,
  work: (call: CallGit, paths: PrivateGitDir) => Promise<GitResult>,
): Promise<GitResult> {
  const paths = (await locateByNames(folder, branch, start)) ?? (await locate(folder));
  if ('code' in paths) return paths;
  const { objects, index, exclude, format, head } = paths;
  return withGitDir({ format, head, objects }, async (gitDir) => {
    const options = { ...LONG, gitDir, objectDirectory: objects, workTree: folder, indexFile: index, filters };
    // The exclude file is a list of patterns and runs nothing.
    const ignored = ['-c', `core.excludesFile=${exclude}`];
    return work(
      async (args, extraOptions = {}) => runGit(folder, [...ignored, ...args], { ...options, ...extraOptions }),
      { head, index, gitDir, objects },
    );
  });
}

/** The commit, index and objects of a worktree, and the private git directory, which is removed afterwards. */
type PrivateGitDir = Readonly<Record<'head' | 'index' | 'gitDir' | 'objects', string>>;

/** A folder whose files git reads. With the branch and the repository, no process is needed to locate them. */
export interface WorktreeFiles extends Pick<Worktree, 'folder' | 'filters'> {
  readonly branch?: string;
  readonly start?: KnownRepository | undefined;
}

/** The repository of a worktree, as recorded before the worktree was created. */
export type KnownRepository = Pick<RepositoryStart, 'objects' | 'format' | 'head' | 'exclude'>;

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
  const found = { index: resolve(folder, index), exclude: resolve(folder, exclude), format, head };
  return { ...found, objects: await realpath(resolve(folder, objects)) };
}

/**
 * Locates the files of a worktree by their names, which saves a process: the entry that git made for it, and the commit
 * of its branch. Returns undefined if anything is not as git leaves it, for example another branch is checked out.
 */
async function locateByNames(
  folder: string,
  branch: string | undefined,
  known: KnownRepository | undefined,
): Promise<WorktreePaths | undefined> {
  if (known === undefined || branch === undefined) return undefined;
  const common = dirname(known.objects);
  const entry = join(common, 'worktrees', basename(folder));
  const head = await readBranch(common, branch);
  const [link, current] = await Promise.all(
    [join(folder, '.git'), join(entry, 'HEAD')].map(async (path) =>
      readSmallFile(path, LINK_BYTES).catch(() => undefined),
    ),
  );
  const isAsMade = link === `gitdir: ${entry}\n` && current === `ref: refs/heads/${branch}\n`;
  return isAsMade && head !== undefined ? { ...known, index: join(entry, 'index'), head } : undefined;
}

const LINK_BYTES = 16 * 1024;
