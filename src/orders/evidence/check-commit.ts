import { join } from 'node:path';
import { isPresent } from '../../files/index.js';
import type { Problem } from '../../records/index.js';
import { runGit } from './run-git.js';
import type { GitEnd } from './run-git.js';

/** The outcome of looking for a commit; neither key if it exists. */
export interface CommitCheck {
  /** It is not there, or it could not be looked for in a repository that is. */
  readonly problem?: Problem;
  /** There is no repository to look in. */
  readonly notice?: Problem;
}

const HASH = /^[0-9a-f]{4,64}$/;
const PATH = 'changes.commit';

/**
 * Looks for a claimed commit in a repository. The repository is the worker's: git is set to run nothing it names and
 * to ask no other machine.
 *
 * @example
 * await checkCommit('/srv/shop', '1a2b3c4d') // {} if the repository has it
 */
export async function checkCommit(repoDir: string, commit: string): Promise<CommitCheck> {
  if (!HASH.test(commit)) return { problem: notFound(commit.slice(0, 70)) };
  const repository = await runGit(repoDir, ['rev-parse', '--git-dir']);
  if (repository.code !== 0) return judgeFailure(repository, await isPresent(join(repoDir, '.git')));
  const found = await runGit(repoDir, ['cat-file', '-e', `${commit}^{commit}`]);
  if (found.code === 0) return {};
  return found.code === 'failed' ? { problem: unchecked('git did not answer') } : { problem: notFound(commit) };
}

function judgeFailure({ code, stderr }: GitEnd, looksLikeRepository: boolean): CommitCheck {
  // A damaged repository is a problem, a missing one is not: a worker cannot avoid the check by damaging it.
  if (!looksLikeRepository && (code === 'no_folder' || stderr.includes('not a git repository'))) {
    return { notice: notChecked('repo_dir is not a git repository') };
  }
  if (code === 'no_git' && !looksLikeRepository) return { notice: notChecked('git is not installed') };
  if (code === 'no_git') return { problem: unchecked('git is not installed') };
  return {
    problem: unchecked(stderr.includes('dubious ownership') ? 'the repository belongs to another user' : 'git failed'),
  };
}

function notFound(commit: string): Problem {
  return { code: 'COMMIT_NOT_FOUND', message: `the repository has no commit ${commit}`, path: PATH };
}

function notChecked(why: string): Problem {
  return { code: 'NOT_A_REPOSITORY', message: `the commit was not checked: ${why}`, path: PATH };
}

function unchecked(why: string): Problem {
  return { code: 'COMMIT_UNCHECKED', message: `cannot check the commit: ${why}`, path: PATH };
}
