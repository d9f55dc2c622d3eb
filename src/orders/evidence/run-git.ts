import { execFile } from 'node:child_process';

const TIME_LIMIT_MS = 10_000;

/** How a call of git ended. */
export interface GitEnd {
  readonly code: number | 'no_git' | 'no_folder' | 'failed';
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Calls git in a folder, with a time limit. The repository belongs to workers: git is told to run nothing that it names
 * and to ask no other machine.
 *
 * @example
 * await runGit('/srv/shop', ['rev-parse', '--git-dir']) // { code: 0, stdout: '.git\n', stderr: '' }
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  timeLimitMs: number = TIME_LIMIT_MS,
): Promise<GitEnd> {
  const command = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-C', folder, ...args];
  return new Promise((resolve) => {
    execFile(
      'git',
      command,
      {
        env: cleanEnvironment(),
        timeout: timeLimitMs,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (error.code === 'ENOENT') resolve({ code: 'no_git', stdout, stderr });
        else if (stderr.includes('cannot change to')) resolve({ code: 'no_folder', stdout, stderr });
        else resolve({ code: typeof error.code === 'number' ? error.code : 'failed', stdout, stderr });
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
