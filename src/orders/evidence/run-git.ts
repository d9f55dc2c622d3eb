import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import { getErrorCode } from '../../base/index.js';

const TIME_LIMIT_MS = 10_000;

/** Exit of a git call. */
export interface GitEnd {
  readonly code: number | 'no_git' | 'no_folder' | 'failed';
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a call works, beyond the folder it starts in. */
export interface GitOptions {
  readonly timeLimitMs?: number;
  /** A private git directory instead of the repository's own: then the configuration of the repository has no effect. */
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  /** Where objects are read and written, instead of the git directory's own. */
  readonly objectDirectory?: string;
  /** Standard input of git. */
  readonly input?: string;
  /** Another machine, or another repository, that the call may reach; none by default. */
  readonly remote?: GitRemote;
  /** Filters that may run on files; only with a private git directory, where the repository cannot configure others. */
  readonly filters?: GitFilters;
  readonly signal?: AbortSignal;
  /** How much it may print; 64 KiB by default. More is a failure. */
  readonly maxBytes?: number;
}

/** The remote that a call may reach, and its credentials. */
export interface GitRemote {
  readonly protocol: 'https' | 'http' | 'ssh' | 'file';
  /** Settings, which may hold passwords: they reach git through its environment. */
  readonly config?: Readonly<Record<string, string>>;
}

/** Settings of the filters that the configuration names: `filter.lfs.process` and so on. */
export type GitFilters = Readonly<Record<string, string>>;

/**
 * Calls git in a folder, with a time limit. The repository is hostile: an agent can write its configuration. So git gets an
 * environment without secrets, no configuration of the user or the system (an agent of the same user can write that too),
 * and runs no hook and no file system monitor; it asks no other machine but `remote`. What it would still run are the filters that the
 * repository configures: a call that reads or writes files of a work tree needs a private `gitDir`. With one, only `filters` run.
 *
 * @example
 * await runGit('/srv/shop', ['rev-parse', '--git-dir']) // { code: 0, stdout: '.git\n', stderr: '' }
 */
export async function runGit(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitEnd> {
  trustedFolders ??= readTrustedFolders();
  const { remote, filters } = options;
  const reached = remote === undefined ? {} : { [`protocol.${remote.protocol}.allow`]: 'always', ...remote.config };
  const config = { ...NOTHING_RUNS, ...numbered('safe.directory', await trustedFolders), ...filters, ...reached };
  return callGit(['--no-pager', '-C', folder, ...args], environmentFor(config, options), options);
}

/** Options of the command line override those of a repository. */
const NOTHING_RUNS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.attributesFile': '/dev/null',
  'submodule.recurse': 'false',
  // An agent can write the file that caches the history.
  'core.commitGraph': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'diff.external': '',
  'protocol.allow': 'never',
} as const;

/** Repositories of other users that this one trusts. Besides named filters the only setting of the user that is passed on. */
let trustedFolders: Promise<readonly string[]> | undefined;

async function readTrustedFolders(): Promise<readonly string[]> {
  return readUserConfig(['--get-all', 'safe.directory']);
}

/**
 * Reads settings of the system and of the user, in this order, each as git prints it with `--null`. Asked outside of every
 * repository, so that none of them can change the answer.
 */
export async function readUserConfig(query: readonly string[]): Promise<readonly string[]> {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  const environment = { PATH, HOME, XDG_CONFIG_HOME, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  const outside = ['-C', parse(process.cwd()).root];
  const scopes = await Promise.all(
    ['--system', '--global'].map(async (scope) =>
      callGit([...outside, 'config', scope, '--includes', '--null', ...query], environment),
    ),
  );
  return scopes.flatMap(({ code, stdout }) => (code === 0 ? stdout.split('\0').filter(Boolean) : []));
}

function numbered(key: string, values: readonly string[]): Readonly<Record<string, string>> {
  // A key may be given several times; a suffix that is cut off again keeps them apart here.
  return Object.fromEntries(values.map((value, index) => [`${key}#${index}`, value]));
}

/** An allow list: what a filter or a helper of a repository could see, if one were ever run. */
function environmentFor(
  config: Readonly<Record<string, string>>,
  { gitDir, workTree, indexFile, objectDirectory, remote }: GitOptions,
): NodeJS.ProcessEnv {
  const settings = Object.entries(config).flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${index}`, key.replace(/#\d+$/, '')],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const { PATH, TMPDIR } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: String(Object.keys(config).length),
    ...Object.fromEntries(settings),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: remote?.protocol ?? 'none',
    ...(remote?.protocol === 'ssh' ? keysForSsh() : {}),
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }),
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
    ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
    ...(objectDirectory === undefined ? {} : { GIT_OBJECT_DIRECTORY: objectDirectory }),
  };
}

/** Keys are in the agent or where ssh looks for them; an unknown host is refused without a prompt. */
function keysForSsh(): NodeJS.ProcessEnv {
  const { SSH_AUTH_SOCK } = process.env;
  return {
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes',
    ...(SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK }),
  };
}

/** How long its output is read after git has ended: a program that a filter has started may keep it open. */
const OUTPUT_MS = 1000;

async function callGit(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  { timeLimitMs = TIME_LIMIT_MS, maxBytes = 64 * 1024, input = '', signal }: GitOptions = {},
): Promise<GitEnd> {
  if (signal?.aborted === true) return { code: 'failed', stdout: '', stderr: '' };
  // The leader of a process group: filters and other helpers of git end with it.
  const child = spawn('git', command, { env, detached: !IS_WINDOWS, windowsHide: true });
  let hasEnded = false;
  let hasFailed = false;
  const stop = (): void => {
    hasFailed ||= !hasEnded;
    endGroup(child);
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const refuse = (): void => {
    hasFailed = true;
    stop();
  };
  const [stdout, stderr] = [collect(child.stdout, maxBytes, refuse), collect(child.stderr, maxBytes, refuse)];
  // Git may exit without reading its input; that is not an error here.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  let timer = setTimeout(stop, timeLimitMs);
  signal?.addEventListener('abort', stop, { once: true });
  child.on('exit', () => {
    hasEnded = true;
    clearTimeout(timer);
    timer = setTimeout(stop, OUTPUT_MS);
  });
  const code = await new Promise<GitEnd['code']>((resolve) => {
    child.on('error', (error) => resolve(getErrorCode(error) === 'ENOENT' ? 'no_git' : 'failed'));
    child.on('close', (exitCode) => resolve(hasFailed ? 'failed' : (exitCode ?? 'failed')));
  });
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  const end = { stdout: join(stdout), stderr: join(stderr) };
  return { code: code !== 0 && end.stderr.includes('cannot change to') ? 'no_folder' : code, ...end };
}

const IS_WINDOWS = process.platform === 'win32';

function endGroup(child: ChildProcess): void {
  try {
    if (IS_WINDOWS || child.pid === undefined) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of it has ended already.
  }
}

/** Keeps what a stream says, up to a limit; more calls `onTooLong`. */
function collect(stream: Readable, maxBytes: number, onTooLong: () => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length > left) onTooLong();
    chunks.push(chunk.subarray(0, left));
    left = Math.max(0, left - chunk.length);
  });
  return chunks;
}

function join(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
