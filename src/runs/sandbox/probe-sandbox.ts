import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { lstat, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { getErrorCode } from '../../base/index.js';
import { findExecutable } from '../../base/files/index.js';

/** Whether runs can be sandboxed on this host. */
export type SandboxSupport =
  | {
      readonly works: true;
      readonly program: string;
      readonly version: string;
      readonly canIsolateNetwork: boolean;
      /** bubblewrap's arguments that mount `/proc`. */
      readonly proc: readonly string[];
      /** Kernel settings that a sandbox could still change, the first of them. */
      readonly writableKernelFiles: readonly string[];
    }
  | {
      readonly works: false;
      /** The problem and the remedy, without an initial capital or a full stop. */
      readonly reason: string;
    };

/** The namespaces of every sandbox; a network namespace is added if network access is restricted. */
export const NAMESPACES: readonly string[] = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  ...mapRootToUser(),
];

/**
 * Maps root to the first other user in `/etc/passwd`. Under bubblewrap, root would keep its capabilities and could
 * change every mount; root without capabilities could not create the nested namespaces that agents with their own
 * sandbox need.
 */
function mapRootToUser(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const [, user = '65534', group = '65534'] = /^[^:\n]*:[^:\n]*:([1-9]\d*):([1-9]\d*):/m.exec(readUsers()) ?? [];
  return ['--uid', user, '--gid', group, '--cap-drop', 'ALL'];
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'latin1');
  } catch {
    return '';
  }
}

/** Creating a sandbox normally takes milliseconds. */
const PROBE_MS = 10_000;
/** How long to wait before repeating a probe that timed out. */
const RETRY_MS = 60_000;
const MIN_VERSION = [0, 7] as const;

const probes = new Map<string, Promise<SandboxSupport>>();

/**
 * Checks whether bubblewrap works on this host by creating a sandbox with every required feature. Checks once per
 * process and executable; only a probe that timed out under load is repeated, after a minute.
 *
 * @example
 * const support = await probeSandbox();
 * if (!support.works) console.log(support.reason); // 'bubblewrap is not installed; …'
 */
export async function probeSandbox(
  program = 'bwrap',
  { probeMs = PROBE_MS, retryMs = RETRY_MS }: { readonly probeMs?: number; readonly retryMs?: number } = {},
): Promise<SandboxSupport> {
  const scheduleRetry = (): void => void setTimeout(() => probes.delete(program), retryMs).unref();
  const probe = probes.get(program) ?? probeExecutable(program, { probeMs, onTimeout: scheduleRetry });
  probes.set(program, probe);
  return probe;
}

interface ProbeLimits {
  readonly probeMs: number;
  readonly onTimeout: () => void;
}

async function probeExecutable(name: string, limits: ProbeLimits): Promise<SandboxSupport> {
  if (process.platform !== 'linux') return createFailure('bubblewrap needs Linux');
  const program = await findExecutable(name, { path: process.env['PATH'] ?? '', cwd: '/' });
  if (program === undefined) {
    return createFailure(
      'bubblewrap is not installed; install it (apt-get install bubblewrap, dnf install bubblewrap)',
    );
  }
  const versionOutput = await run(program, ['--version'], limits);
  const version = /\d+(?:\.\d+)+/.exec(versionOutput.stdout)?.[0];
  if (version === undefined) return createFailure(`${program} does not print its version: ${versionOutput.problem}`);
  if (isOlder(version))
    return createFailure(`bubblewrap ${version} is too old; install ${MIN_VERSION.join('.')} or later`);
  const proc = await mountProc();
  const mounts = ['--ro-bind', '/', '/', ...proc, '--dev', '/dev', '--size', '65536', '--tmpfs', '/tmp'];
  const command = [process.execPath, '-e', FIND_WRITABLE_KERNEL_FILES];
  const probeArguments = [...NAMESPACES, ...mounts, '--remount-ro', '/', '--', ...command];
  // With the host's network, whose settings are then below /proc as well.
  const probed = await run(program, probeArguments, limits);
  if (!probed.succeeded) return createFailure(`bubblewrap cannot create a sandbox here: ${probed.problem}`);
  const { succeeded: canIsolateNetwork } = await run(program, ['--unshare-net', ...probeArguments], limits);
  const writableKernelFiles = probed.stdout.split('\n').filter((path) => path !== '');
  return { works: true, program, version, canIsolateNetwork, proc, writableKernelFiles };
}

function createFailure(reason: string): SandboxSupport {
  return { works: false, reason };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = MIN_VERSION;
  return major < minMajor || (major === minMajor && minor < minMinor);
}

async function run(
  program: string,
  args: readonly string[],
  { probeMs, onTimeout }: ProbeLimits,
): Promise<{ readonly succeeded: boolean; readonly stdout: string; readonly problem: string }> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { PATH: '/usr/bin:/bin' },
      timeout: probeMs,
      killSignal: 'SIGKILL',
      maxBuffer: 1024 * 1024,
    });
    return { succeeded: true, stdout, problem: '' };
  } catch (error) {
    if (error instanceof Error && 'killed' in error && error.killed === true) {
      onTimeout();
      return { succeeded: false, stdout: '', problem: `it did not respond within ${probeMs / 1000} s` };
    }
    const stderr: unknown = error instanceof Error ? Reflect.get(error, 'stderr') : undefined;
    const [firstLine = ''] = (typeof stderr === 'string' ? stderr : '').trim().split('\n');
    const problem = firstLine.replace(/^bwrap: /, '') || (getErrorCode(error) ?? 'no reason given');
    return { succeeded: false, stdout: '', problem: problem.slice(0, 300) };
  }
}

/**
 * Returns bubblewrap's arguments that mount `/proc` with everything that is not a process's own folder read-only.
 * bubblewrap alone leaves `/proc/sys` writable for root, which owns the kernel settings on the host even if it is mapped
 * to another user inside. The folders of processes stay writable: an agent with its own sandbox writes its `uid_map`.
 */
async function mountProc(): Promise<readonly string[]> {
  const args = ['--proc', '/proc'];
  for (const entry of await readdir('/proc', { withFileTypes: true })) {
    if (/^\d+$/.test(entry.name) || entry.isSymbolicLink()) continue;
    const path = join('/proc', entry.name);
    const mode = (await lstat(path).catch(() => undefined))?.mode;
    const takesWrites = entry.isDirectory() || (mode !== undefined && (mode & 0o222) !== 0);
    if (takesWrites) args.push('--ro-bind-try', path, path);
  }
  return args;
}

/** More files than any kernel has below `/proc`, so that the search ends. */
const MAX_ENTRIES = 200_000;
/** A few of the files found; they are named in a message. */
const MAX_FOUND = 3;

/**
 * A program for Node.js that prints, inside a sandbox, the first files below `/proc` that it may write to, other than
 * those of processes. `net` is examined too: it is in a process's folder, but its files configure the host's network.
 */
const FIND_WRITABLE_KERNEL_FILES = `
const { accessSync, constants, readdirSync } = require('node:fs');
const found = [];
let left = ${MAX_ENTRIES};
const folders = ['/proc', '/proc/self/net'];
for (let folder; (folder = folders.pop()) !== undefined && found.length < ${MAX_FOUND};) {
  let entries = [];
  try { entries = readdirSync(folder, { withFileTypes: true }); } catch {}
  for (const entry of entries) {
    if ((left -= 1) < 0) { console.log('/proc'); process.exit(); }
    if (folder === '/proc' && /^\\d+$/.test(entry.name)) continue;
    const path = folder + '/' + entry.name;
    if (entry.isDirectory()) folders.push(path);
    else if (entry.isFile()) try { accessSync(path, constants.W_OK); found.push(path); } catch {}
  }
}
console.log(found.slice(0, ${MAX_FOUND}).join('\\n'));`;
