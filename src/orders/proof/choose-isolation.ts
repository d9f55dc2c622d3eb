import type { WorkRequest } from '../../records/index.js';
import { runGit } from '../evidence/run-git.js';
import { findAgentEngine } from '../wrappers/wrappers.js';
import type { Wrapper } from '../wrappers/wrappers.js';

/**
 * Chooses where an order works. The request's `isolation` takes precedence. Runs in a race and orders whose repository
 * is a URL get a worktree each. Otherwise agents get a worktree if the repository has a commit, because they do not
 * always commit their work; everything else works in the repository.
 *
 * @example
 * await chooseIsolation({ repo_dir: '/srv/shop' }, { type: 'codex-cli' }) // 'worktree' if /srv/shop is a git repository
 */
export async function chooseIsolation(
  { isolation, race, repo, repo_dir }: Pick<WorkRequest, 'isolation' | 'race' | 'repo' | 'repo_dir'>,
  { type }: Pick<Wrapper, 'type'>,
): Promise<'repository' | 'worktree'> {
  if (isolation !== undefined) return isolation;
  if (race !== undefined || repo !== undefined) return 'worktree';
  if (findAgentEngine(type) === undefined) return 'repository';
  const head = await runGit(repo_dir, ['rev-parse', '--quiet', '--verify', 'HEAD^{commit}']);
  return head.code === 0 ? 'worktree' : 'repository';
}
