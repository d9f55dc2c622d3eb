import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isPresent } from '../../base/files/index.js';
import { describeGitFailure, findCommit, readUserConfig, runGit, type GitFilters } from './run-git.js';
import type { OrderRecord } from '../../store/records/index.js';
import type { RepositoryStart, UnknownStart } from './repository.js';
import { listUncommitted, withPrivateGitDir } from './worktree.js';

/** The branch for the commits of an order without a worktree. */
export interface OwnBranch {
  /** Absent if the order asked for the branch that is checked out. */
  readonly branch?: string;
  /** The filters that may run on its files. */
  readonly filters: GitFilters;
}

/** Returns the branch of an order without a worktree. */
export function getOwnBranch({ order, run }: OrderRecord, filters: GitFilters): OwnBranch {
  return order.isolation === 'current-branch' ? { filters } : { branch: `sluice/${order.run_id}-${run}`, filters };
}

/**
 * Prepares a repository for an order that works in it without a worktree: refuses one with uncommitted work, which the
 * agent could overwrite or commit, then checks out the order's branch. Returns the start with the branch to go back to.
 */
export async function enterRepository(
  start: RepositoryStart,
  { branch, filters }: OwnBranch,
): Promise<RepositoryStart | { readonly error: string }> {
  const { root, head } = start;
  const obstacle = await findObstacle(root);
  if (obstacle !== undefined) return { error: `${obstacle}, or omit isolation to use a worktree` };
  const uncommitted = await listUncommitted({ folder: root, filters });
  const [first, ...others] = await dropIgnoredByUser(root, uncommitted);
  if (first !== undefined) {
    const files = `"${first.slice(0, 60)}"${others.length === 0 ? '' : ` and ${others.length} more`}`;
    const advice = 'commit or stash it, or omit isolation to use a worktree';
    const why = `has uncommitted work (${files}), which an agent without a worktree could change`;
    return { error: `the repository ${why}; ${advice}` };
  }
  if (branch === undefined) return start;
  const [name, commit = '', created] = await Promise.all([
    runGit(root, ['symbolic-ref', '--quiet', 'HEAD']),
    findCommit(root, 'HEAD'),
    runGit(root, ['branch', '--no-track', '--', branch, head]),
  ]);
  if (created.code !== 0) return { error: `git cannot create the branch ${branch}: ${describeGitFailure(created)}` };
  const error = await checkOutBranch(root, commit, { name: `refs/heads/${branch}`, commit: head }, filters);
  const previous = name.code === 0 ? name.stdout.trim() : commit;
  return error === undefined ? { ...start, previous } : { error };
}

/** The files that git keeps while a command is not finished: a commit of the agent would end it. */
const UNFINISHED: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
};

/** Finds a reason not to work in a repository now. */
async function findObstacle(root: string): Promise<string | undefined> {
  const names = Object.keys(UNFINISHED);
  const query = ['rev-parse', '--is-bare-repository', ...names.flatMap((name) => ['--git-path', name])];
  const [isBare, ...paths] = (await runGit(root, query)).stdout.trim().split('\n');
  if (isBare === 'true') return 'repo_dir is a bare repository, which has no files to work on; name a clone';
  const found = await Promise.all(paths.map(async (path) => isPresent(resolve(root, path))));
  const [command] = Object.values(UNFINISHED).filter((_, index) => found[index] === true);
  if (command === undefined) return undefined;
  return `a ${command} is in progress in the repository, which an agent without a worktree could change; finish or abort it`;
}

/**
 * Goes back to the branch or commit that was checked out before the order, unless that would touch uncommitted work or
 * lose a commit. The order's branch is removed if it has no commits. Returns a note if the repository stays elsewhere.
 */
export async function leaveRepository(
  start: RepositoryStart | UnknownStart,
  { branch, filters }: OwnBranch,
): Promise<{ readonly note?: string }> {
  if ('why' in start || start.previous === undefined || branch === undefined) return {};
  const { root, repoDir, head, previous } = start;
  const own = `refs/heads/${branch}`;
  const [name, from = '', tip = '', to = ''] = await Promise.all([
    runGit(root, ['symbolic-ref', '--quiet', 'HEAD']),
    ...['HEAD', own, previous].map(async (each) => findCommit(root, each)),
  ]);
  const current = name.stdout.trim();
  // The agent can have gone back itself, or have replaced the repository.
  if (current === previous || from === '' || (current === '' && from === previous)) return {};
  const place = current === '' ? `the commit ${from}` : `the branch ${current.replace('refs/heads/', '')}`;
  const stays = `The repository "${repoDir}" is still on ${place}; it was on ${previous.replace('refs/heads/', '')}.`;
  if (to === '' || (await listUncommitted({ folder: root, filters })).length > 0) return { note: stays };
  // Commits without a branch would be lost: the order's branch gets them, if it has no others.
  const isKept = current !== '' || (await runGit(root, ['merge-base', '--is-ancestor', tip, from])).code === 0;
  if (!isKept) return { note: stays };
  if (current === '') await runGit(root, ['update-ref', own, from, tip]);
  const error = await checkOutBranch(root, from, { name: previous, commit: to }, filters);
  if (error !== undefined) return { note: stays };
  if (tip === head && (current !== '' || from === head)) await runGit(root, ['update-ref', '-d', own, tip]);
  return {};
}

/** Writes the files of a commit over those of another and makes HEAD name the branch; returns an error if that fails. */
async function checkOutBranch(
  root: string,
  from: string,
  { name, commit: to }: { readonly name: string; readonly commit: string },
  filters: GitFilters,
): Promise<string | undefined> {
  if (from !== to) {
    const written = await withPrivateGitDir({ folder: root, filters }, async (call) => {
      // In a sandbox, an agent's git records another owner of each file.
      await call(['update-index', '-q', '--refresh']);
      return call(['read-tree', '-m', '-u', from, to]);
    });
    if (written.code !== 0) return `git cannot check out ${name}: ${describeGitFailure(written)}`;
  }
  const change = name.startsWith('refs/') ? ['symbolic-ref', 'HEAD', name] : ['update-ref', '--no-deref', 'HEAD', name];
  const moved = await runGit(root, change);
  return moved.code === 0 ? undefined : `git cannot switch to ${name}: ${describeGitFailure(moved)}`;
}

/** Leaves out files that this user's own ignore list names, which a private git directory does not read. */
async function dropIgnoredByUser(root: string, files: readonly string[]): Promise<readonly string[]> {
  if (files.length === 0) return files;
  const [configured] = (await readUserConfig(['--type=path', '--get', 'core.excludesFile'])).slice(-1);
  const { XDG_CONFIG_HOME = join(homedir(), '.config') } = process.env;
  const setting = `core.excludesFile=${configured ?? join(XDG_CONFIG_HOME, 'git', 'ignore')}`;
  const input = files.map((file) => `${file}\0`).join('');
  const ignored = await runGit(root, ['-c', setting, 'check-ignore', '-z', '--stdin'], { input });
  const names = new Set(ignored.stdout.split('\0'));
  return files.filter((file) => !names.has(file));
}
