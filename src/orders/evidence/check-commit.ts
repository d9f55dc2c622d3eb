import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '../reading.js';

/** What came of looking for a commit; neither key if it is there. */
export interface CommitCheck {
  /** It is not there, or it could not be looked for in a repository that is. */
  readonly problem?: Problem;
  /** There is no repository to look in. */
  readonly notice?: Problem;
}

const HASH = /^[0-9a-f]{7,64}$/;
const PATH = 'changes.commit';
const TIME_LIMIT_MS = 10_000;

/**
 * Looks for a claimed commit in a repository. The repository is the worker's: git is told to run nothing it names and
 * to ask no other machine.
 *
 * @example
 * await checkCommit('/srv/shop', '1a2b3c4d') // {} if the repository has it
 */
export async function checkCommit(repoDir: string, commit: string): Promise<CommitCheck> {
  if (!HASH.test(commit)) return { problem: notFound(commit.slice(0, 70)) };
  const repository = await git(repoDir, ['rev-parse', '--git-dir']);
  if (repository.code !== 0) return judgeFailure(repository, await exists(join(repoDir, '.git')));
  const found = await git(repoDir, ['cat-file', '-e', `${commit}^{commit}`]);
  if (found.code === 0) return {};
  return found.code === 'failed' ? { problem: unchecked('git did not answer') } : { problem: notFound(commit) };
}

function judgeFailure({ code, stderr }: GitEnd, looksLikeRepository: boolean): CommitCheck {
  // A repository that was broken is not one that never was: no worker gets around the check that way.
  if (!looksLikeRepository && (code === 'no_folder' || stderr.includes('not a git repository'))) {
    return { notice: notChecked('repo_dir is no git repository') };
  }
  if (code === 'no_git' && !looksLikeRepository) return { notice: notChecked('git is not installed') };
  if (code === 'no_git') return { problem: unchecked('git is not installed') };
  return {
    problem: unchecked(stderr.includes('dubious ownership') ? 'the repository belongs to another user' : 'git failed'),
  };
}

interface GitEnd {
  readonly code: number | 'no_git' | 'no_folder' | 'failed';
  readonly stderr: string;
}

async function git(repoDir: string, args: readonly string[]): Promise<GitEnd> {
  const command = [
    '--no-pager',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
    '-C',
    repoDir,
    ...args,
  ];
  return new Promise((resolve) => {
    execFile(
      'git',
      command,
      {
        env: cleanEnvironment(),
        timeout: TIME_LIMIT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024,
        windowsHide: true,
      },
      (error, _stdout, stderr) => {
        if (error === null) resolve({ code: 0, stderr });
        else if (error.code === 'ENOENT') resolve({ code: 'no_git', stderr });
        else if (stderr.includes('cannot change to')) resolve({ code: 'no_folder', stderr });
        else resolve({ code: typeof error.code === 'number' ? error.code : 'failed', stderr });
      },
    );
  });
}

/** Without the variables that point git elsewhere, and with those that keep it from fetching, asking or translating. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('GIT_'));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

function notFound(commit: string): Problem {
  return { code: 'COMMIT_NOT_FOUND', message: `the repository has no commit ${commit}`, path: PATH };
}

function notChecked(why: string): Problem {
  return { code: 'COMMIT_NOT_CHECKED', message: `the commit was not looked for: ${why}`, path: PATH };
}

function unchecked(why: string): Problem {
  return { code: 'COMMIT_UNCHECKED', message: `the commit could not be looked for: ${why}`, path: PATH };
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
