import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { getErrorCode } from '../base/index.js';
import { findProgram } from '../files/index.js';

/** Whether runs can be sandboxed on this machine. */
export type SandboxSupport =
  | {
      readonly works: true;
      /** Where bubblewrap is. */
      readonly program: string;
      readonly version: string;
      /** Whether it can isolate the network. */
      readonly closesNetwork: boolean;
    }
  | { readonly works: false; /** Half a sentence that says what to do. */ readonly reason: string };

/** The namespaces of every sandbox; a network namespace is added if network access is restricted. */
export const NAMESPACES: readonly string[] = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  ...leaveRoot(),
];

/**
 * bubblewrap would leave root its capabilities, with which every mount can be changed; and root without them could not create
 * nested namespaces, which agents with their own sandbox need. So root is mapped to another user inside, one that has a name.
 */
function leaveRoot(): readonly string[] {
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

/** Creating a sandbox takes milliseconds; only a broken machine takes longer. */
const PROBE_MS = 10_000;
const MIN_VERSION = [0, 7];

const probes = new Map<string, Promise<SandboxSupport>>();

/**
 * Checks whether bubblewrap works here, by creating a sandbox that uses every required feature. Runs once per process and program.
 *
 * @example
 * const support = await probeSandbox();
 * if (!support.works) console.log(support.reason); // 'bubblewrap is not installed; …'
 */
export async function probeSandbox(program = 'bwrap'): Promise<SandboxSupport> {
  const probe = probes.get(program) ?? tryProgram(program);
  probes.set(program, probe);
  return probe;
}

async function tryProgram(name: string): Promise<SandboxSupport> {
  if (process.platform !== 'linux') return failed('bubblewrap needs Linux');
  const program = await findProgram(name, { path: process.env['PATH'] ?? '', cwd: '/' });
  if (program === undefined) {
    return failed('bubblewrap is not installed; install it (apt-get install bubblewrap, dnf install bubblewrap)');
  }
  const asked = await run(program, ['--version']);
  const version = /\d+(?:\.\d+)+/.exec(asked.stdout)?.[0];
  if (version === undefined) return failed(`${program} does not print its version`);
  if (isOlder(version)) return failed(`bubblewrap ${version} is too old; install ${MIN_VERSION.join('.')} or later`);
  const words = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--size', '65536', '--tmpfs', '/tmp'];
  const trial = [...NAMESPACES, ...words, '--remount-ro', '/', '--', process.execPath, '--version'];
  const closed = await run(program, ['--unshare-net', ...trial]);
  if (closed.isDone) return { works: true, program, version, closesNetwork: true };
  const open = await run(program, trial);
  if (open.isDone) return { works: true, program, version, closesNetwork: false };
  return failed(`bubblewrap cannot create a sandbox here: ${open.problem}`);
}

function failed(reason: string): SandboxSupport {
  return { works: false, reason };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = MIN_VERSION;
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

interface Trial {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly problem: string;
}

async function run(program: string, args: readonly string[]): Promise<Trial> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { PATH: '/usr/bin:/bin' },
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
      maxBuffer: 1024 * 1024,
    });
    return { isDone: true, stdout, problem: '' };
  } catch (error) {
    const stderr: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'stderr') : undefined;
    const said =
      typeof stderr === 'string'
        ? stderr
            .trim()
            .split('\n')[0]
            ?.replace(/^bwrap: /, '')
        : '';
    const problem = said === undefined || said === '' ? (getErrorCode(error) ?? 'no reason given') : said;
    return { isDone: false, stdout: '', problem: problem.slice(0, 300) };
  }
}
