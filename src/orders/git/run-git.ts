import { spawn, type ChildProcess } from 'node:child_process';
import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import { getErrorCode } from '../../base/index.js';
import { dropFullStop } from '../plain-text.js';

const TIME_LIMIT_MS = 10_000;

/** The result of a git call: its exit code, or why it has no exit code, and its output. */
export interface GitResult {
  readonly code: number | 'no_git' | 'no_folder' | 'failed';
  readonly stdout: string;
  readonly stderr: string;
}

export interface GitOptions {
  readonly timeLimitMs?: number;
  /** A private git directory instead of the repository's own, so the repository's configuration has no effect. */
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  /** The object folder to read and write, instead of the git directory's own. */
  readonly objectDirectory?: string;
  /** Standard input of git. */
  readonly input?: string;
  /**
   * Lets the call contact other hosts or repositories, over one protocol (`https`, `http`, `ssh` or `file`); not allowed
   * by default. The settings can contain passwords, so they are passed in the environment.
   */
  readonly remote?: { readonly protocol: string; readonly config: Readonly<Record<string, string>> };
  /** Filters that may run on files; requires a private git directory, where the repository cannot configure others. */
  readonly filters?: GitFilters;
  readonly signal?: AbortSignal;
  /** How much git may print; 64 KiB by default. A call that prints more fails. */
  readonly maxBytes?: number;
}

/** Calls git in a git directory that is already chosen. */
export type CallGit = (args: readonly string[], options?: GitOptions) => Promise<GitResult>;

/** The git settings of the configured filters: `filter.lfs.process` and so on. */
export type GitFilters = Readonly<Record<string, string>>;

/**
 * Calls git in a folder, with a time limit. The repository is untrusted: an agent can write its configuration. So git
 * gets an environment without secrets and no user or system configuration (an agent running as the same user can write
 * that too), runs no hook and no file system monitor, and contacts other hosts only over the protocol in `remote`. It
 * would still run filters that the repository configures: a call that reads or writes work tree files needs a private
 * `gitDir`. With one, only `filters` run.
 */
export async function runGit(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  trustedFolders ??= readUserConfig(['--get-all', 'safe.directory']);
  return callGit(['--no-pager', '-C', folder, ...args], createEnvironment(await trustedFolders, options), options);
}

/** Finds the commit that a name stands for, in a folder or by calls in a git directory; undefined if there is none. */
export async function findCommit(where: string | CallGit, name: string, options?: GitOptions) {
  const query = ['rev-parse', '--quiet', '--verify', `${name}^{commit}`];
  const { code, stdout } = await (typeof where === 'string' ? runGit(where, query, options) : where(query, options));
  return code === 0 ? stdout.trim() : undefined;
}

/** Describes why a call failed, as a clause: the end of git's output, or that it printed nothing. */
export function describeGitFailure({ code, stderr }: GitResult): string {
  const lastOutput = dropFullStop(stderr).slice(-FAILURE_LENGTH).trimStart();
  if (lastOutput !== '') return lastOutput;
  if (code === 'no_git') return 'git is not installed';
  return typeof code === 'number' ? `git exited with code ${code}` : 'git did not finish, or printed too much';
}

const FAILURE_LENGTH = 300;

/** These settings override the repository's. */
const SAFE_CONFIG: readonly (readonly [key: string, value: string])[] = Object.entries({
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
});

/** Other users' repositories that this user trusts. Apart from configured filters, the only user setting passed to git. */
let trustedFolders: Promise<readonly string[]> | undefined;

/**
 * Reads system settings and then user settings, each as git prints it with `--null`. Git runs outside any repository,
 * so no repository can change the result.
 */
export async function readUserConfig(query: readonly string[]): Promise<readonly string[]> {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  const environment = { PATH, HOME, XDG_CONFIG_HOME, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  const rootFlags = ['-C', parse(process.cwd()).root];
  const scopes = await Promise.all(
    ['--system', '--global'].map(async (scope) =>
      callGit([...rootFlags, 'config', scope, '--includes', '--null', ...query], environment),
    ),
  );
  return scopes.flatMap(({ code, stdout }) => (code === 0 ? stdout.split('\0').filter(Boolean) : []));
}

/**
 * Creates git's environment from an allow list: a repository's filter or helper, if one ever ran, would see nothing
 * else.
 */
function createEnvironment(
  trusted: readonly string[],
  { gitDir, workTree, indexFile, objectDirectory, remote, filters = {} }: GitOptions,
): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, SSH_AUTH_SOCK } = process.env;
  const isSsh = remote?.protocol === 'ssh';
  const trust = trusted.map((folder) => ['safe.directory', folder] as const);
  const config = [...SAFE_CONFIG, ...trust, ...Object.entries(filters)];
  if (remote !== undefined)
    config.push([`protocol.${remote.protocol}.allow`, 'always'], ...Object.entries(remote.config));
  const settings: Record<string, string> = {};
  for (const [index, [key, value]] of config.entries()) {
    settings[`GIT_CONFIG_KEY_${index}`] = key;
    settings[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  // Undefined variables are not passed.
  return {
    PATH,
    TMPDIR,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: String(config.length),
    ...settings,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: remote?.protocol ?? 'none',
    // Keys come from the SSH agent or from the files that ssh reads by default. An unknown host is refused without a prompt.
    GIT_SSH_COMMAND: isSsh ? 'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes' : undefined,
    SSH_AUTH_SOCK: isSsh ? SSH_AUTH_SOCK : undefined,
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_DIR: gitDir,
    GIT_WORK_TREE: workTree,
    GIT_INDEX_FILE: indexFile,
    GIT_OBJECT_DIRECTORY: objectDirectory,
  };
}

/** How long output is read after git has exited: a process started by a filter can keep the pipe open. */
const OUTPUT_MS = 1000;

async function callGit(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  { timeLimitMs = TIME_LIMIT_MS, maxBytes = 64 * 1024, input, signal }: GitOptions = {},
): Promise<GitResult> {
  if (signal?.aborted === true) return { code: 'failed', stdout: '', stderr: '' };
  let child: ChildProcess;
  try {
    // A separate process group, so filters and other git helpers are killed with it.
    const stdio = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] as const;
    child = spawn('git', command, { env, detached: !IS_WINDOWS, windowsHide: true, stdio: [...stdio] });
  } catch (error) {
    return describeNotStarted(error);
  }
  // Without a listener, the error would crash this process. If no file descriptor is free, the child has no pipes.
  const failure = new Promise<GitResult>((resolve) => {
    child.on('error', (error) => resolve(describeNotStarted(error)));
  });
  const { pid, stdin, stdout: output, stderr: errors } = child;
  if (pid === undefined || output === null || errors === null) return failure;
  let hasExited = false;
  let hasFailed = false;
  const stop = (): void => {
    hasFailed ||= !hasExited;
    killGroup(child);
    output.destroy();
    errors.destroy();
  };
  const stopOnOverflow = (): void => {
    hasFailed = true;
    stop();
  };
  const [stdout, stderr] = [collect(output, maxBytes, stopOnOverflow), collect(errors, maxBytes, stopOnOverflow)];
  // Git can exit without reading its input; that is not an error here.
  stdin?.on('error', () => undefined);
  stdin?.end(input);
  let timer = setTimeout(stop, timeLimitMs);
  signal?.addEventListener('abort', stop, { once: true });
  child.on('exit', () => {
    hasExited = true;
    clearTimeout(timer);
    timer = setTimeout(stop, OUTPUT_MS);
  });
  const code = await new Promise<GitResult['code']>((resolve) => {
    child.on('close', (exitCode) => resolve(hasFailed ? 'failed' : (exitCode ?? 'failed')));
  });
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  const end = { stdout: decode(stdout), stderr: decode(stderr) };
  return { code: code !== 0 && end.stderr.includes('cannot change to') ? 'no_folder' : code, ...end };
}

function describeNotStarted(error: unknown): GitResult {
  if (getErrorCode(error) === 'ENOENT') return { code: 'no_git', stdout: '', stderr: '' };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: 'failed', stdout: '', stderr: `cannot start git: ${reason}` };
}

const IS_WINDOWS = process.platform === 'win32';

function killGroup(child: ChildProcess): void {
  try {
    if (IS_WINDOWS || child.pid === undefined) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has ended already.
  }
}

/** Collects a stream's data up to a limit, and calls `onOverflow` if the stream exceeds it. */
function collect(stream: Readable, maxBytes: number, onOverflow: () => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length > remaining) onOverflow();
    chunks.push(chunk.subarray(0, remaining));
    remaining = Math.max(0, remaining - chunk.length);
  });
  return chunks;
}

function decode(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
