import { join } from 'node:path';
import { isPresent } from '../../base/files/index.js';
import type { Problem } from '../../store/records/index.js';
import { runGit, type GitResult } from './run-git.js';

/** The outcome of looking up a commit; empty if the commit exists. */
export interface CommitCheck {
  /** The commit is missing, or the repository could not be checked. */
  readonly problem?: Problem;
  /** No repository exists. */
  readonly notice?: Problem;
}

const HASH = /^[0-9a-f]{4,64}$/;
const PATH = 'changes.commit';

/**
 * Looks up a claimed commit in a repository. The agent can write the repository's configuration, so git is called in a
 * way that runs no configured command and contacts no other host.
 *
 * @example
 * await checkCommit('/srv/shop', '1a2b3c4d') // {} if the repository has it
 */
export async function checkCommit(repoDir: string, commit: string): Promise<CommitCheck> {
  if (!HASH.test(commit)) return { problem: createNotFoundProblem(commit.slice(0, 70)) };
  const lookup = await runGit(repoDir, ['cat-file', '-e', `${commit}^{commit}`]);
  if (lookup.code === 0) return {};
  const repository = await runGit(repoDir, ['rev-parse', '--git-dir']);
  if (repository.code !== 0) return judgeFailure(repository, await isPresent(join(repoDir, '.git')));
  return lookup.code === 'failed'
    ? { problem: createUncheckedProblem('git did not finish') }
    : { problem: createNotFoundProblem(commit) };
}

function judgeFailure({ code, stderr }: GitResult, looksLikeRepository: boolean): CommitCheck {
  // A damaged repository is a problem, a missing one is not: an agent cannot avoid the check by damaging it.
  if (!looksLikeRepository && (code === 'no_folder' || stderr.includes('not a git repository'))) {
    return { notice: createSkippedNotice('repo_dir is not a git repository') };
  }
  if (code === 'no_git' && !looksLikeRepository) return { notice: createSkippedNotice('git is not installed') };
  if (code === 'no_git') return { problem: createUncheckedProblem('git is not installed') };
  return {
    problem: createUncheckedProblem(
      stderr.includes('dubious ownership') ? 'the repository belongs to another user' : 'git failed',
    ),
  };
}

function createNotFoundProblem(commit: string): Problem {
  return { code: 'COMMIT_NOT_FOUND', message: `the repository has no commit ${commit}`, path: PATH };
}

function createSkippedNotice(why: string): Problem {
  return { code: 'NOT_A_REPOSITORY', message: `the commit was not checked: ${why}`, path: PATH };
}

function createUncheckedProblem(why: string): Problem {
  return { code: 'COMMIT_UNCHECKED', message: `cannot check the commit: ${why}`, path: PATH };
}
