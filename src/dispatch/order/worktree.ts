import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPresent, makeFolder } from '../../files/index.js';
import { runGit } from '../../orders/index.js';
import type { WorkOrder } from '../../records/index.js';

/** A folder of its own for one order, with its own branch of the repository. */
export interface Worktree {
  readonly repoDir: string;
  readonly folder: string;
  readonly branch: string;
}

/** The worktree of an order that asks for one; undefined for those that work in the repository itself. */
export function findWorktree(data: string, order: WorkOrder, run: string): Worktree | undefined {
  if (order.isolation !== 'worktree') return undefined;
  return {
    repoDir: order.repo_dir,
    folder: join(data, 'worktrees', run),
    branch: `sluice/${order.run_id}-${run}`,
  };
}

/** Checking out a large repository takes its time. */
const TIME_LIMIT_MS = 300_000;

/** Makes a worktree, on a new branch from where the repository stands; a message if that cannot be done. */
export async function createWorktree(worktree: Worktree): Promise<{ readonly error?: string }> {
  const { repoDir, folder, branch } = worktree;
  await makeFolder(dirname(folder));
  // A claim that was put back before its worker started may have left one; nobody has worked there.
  await runGit(repoDir, ['worktree', 'remove', '--force', '--', folder], TIME_LIMIT_MS);
  await rm(folder, { recursive: true, force: true });
  const made = await runGit(repoDir, ['worktree', 'add', '--quiet', '-B', branch, '--', folder, 'HEAD'], TIME_LIMIT_MS);
  if (made.code === 0) return {};
  if (made.code === 'no_git') return { error: 'isolation worktree needs git, which is not installed' };
  if (made.stderr.includes('not a git repository')) {
    return { error: `isolation worktree needs a git repository, and ${repoDir} is none` };
  }
  return { error: `git could not make a worktree of ${repoDir}: ${made.stderr.trim().slice(-300)}` };
}

/**
 * Takes a worktree away, unless it holds changes that are not committed. Commits stay in the repository, on the branch;
 * a branch without any of its own goes too.
 */
export async function removeWorktree({ repoDir, folder, branch }: Worktree): Promise<'removed' | 'kept'> {
  if (!(await isPresent(folder))) return 'removed';
  const removed = await runGit(repoDir, ['worktree', 'remove', '--', folder], TIME_LIMIT_MS);
  if (removed.code !== 0) return 'kept';
  // Without force: git refuses where the branch has commits that no other branch has.
  await runGit(repoDir, ['branch', '--quiet', '--delete', '--', branch]);
  return 'removed';
}

/** Takes the worktree of an order away that is over; the note is what a person should know of one that was kept. */
export async function putAwayWorktree(worktree: Worktree | undefined): Promise<{ readonly note?: string }> {
  if (worktree === undefined || (await removeWorktree(worktree)) === 'removed') return {};
  return { note: `Its worktree ${worktree.folder} holds changes that are not committed.` };
}
