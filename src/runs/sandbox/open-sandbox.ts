import { mkdtemp, open, realpath, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import {
  INCOMPLETE_SEARCH,
  addRealPaths,
  completeMounts,
  refuseGaps,
  rejectBroadFolder,
} from './mounts/complete-mounts.js';
import { findGitFolders, guardGitFolder, holdGuards } from './mounts/git-folders.js';
import type { GitGuards, GuardGit } from './mounts/git-folders.js';
import { SandboxError, isWithin, mountExisting, renderMounts, type Mount } from './mounts/mount.js';
import { pinMounts } from './mounts/pin-mounts.js';
import { findMissingSibling, findProgramFolders, listRequestedFiles } from './mounts/program-folders.js';
import { findStateFolders, saveStagedFile, type StagedFile, type StateFolder } from './mounts/state-folders.js';
import { findSystemFolders, isInSystem } from './mounts/system-folders.js';
import { PROXY_SOCKET, createForwarder, createProxyEnvironment, openProxy } from './network/proxy.js';
import type { DeniedHost, Proxy } from './network/proxy.js';
import type { PlacementFailure } from './container/placement-error.js';
import { createCgroupFilter } from './cgroup-filter.js';
import { NAMESPACES, type SandboxSupport } from './probe-sandbox.js';

/** A sandboxed process's network access: unrestricted, none, or only the listed hosts, through an HTTP proxy. */
export type SandboxNetwork = 'host' | 'none' | readonly string[];

/** Folders besides the default ones; paths are absolute. */
export interface SandboxFolders {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** Used as the home folder instead of an empty one; it persists. */
  readonly home?: string;
  /** The folders where requests may work. */
  readonly roots?: readonly string[];
  /** Folders of Sluice's own to mount read-only, although they are in the data folder. */
  readonly internal?: readonly string[];
  /** Whether the agent may commit if it works in a linked worktree. */
  readonly commits?: boolean | undefined;
}

/** A command to run in a sandbox. Folders are absolute and without links. */
export interface SandboxRequest {
  readonly command: readonly [string, ...string[]];
  /** The executable and arguments of the caller, never of an agent; the files they name are mounted. */
  readonly trustedArguments: readonly string[];
  /** Files that a request names, absolute and without links. They are mounted if they are inside `roots`. */
  readonly requestedFiles: readonly string[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The run folder, which the process may write to. */
  readonly runDir: string;
  /** Absolute paths that are never mounted, whatever names them, and hidden inside a mounted folder. */
  readonly hidden: readonly string[];
  /** Whether a sandbox that cannot guarantee everything is refused. */
  readonly isRequired: boolean;
  readonly states: readonly StateFolder[];
  readonly guards: GitGuards;
  readonly network: SandboxNetwork;
  readonly folders: SandboxFolders;
  readonly onDenied: (denied: DeniedHost) => void;
}

/** A prepared sandbox: the bubblewrap command that starts the process inside. */
export interface Sandbox {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Open files that bubblewrap reads; they become its descriptors 3, 4 and so on. */
  readonly descriptors: readonly number[];
  /** The guarantees that it lacks; empty if it was required. Without an initial capital or a full stop. */
  readonly gaps: readonly string[];
  /** For a container: its processes are started by an engine, and signals to the command do not reach them. */
  readonly container?: RunningContainer;
  /** Finds a file that the process's errors name, and that exists next to one of its scripts, but is not mounted. */
  findMissingFile(errors: string): Promise<string | undefined>;
  /** Call this when the process has exited or was not started. */
  close(): Promise<void>;
}

/** A container that the sandbox's command starts. */
export interface RunningContainer {
  readonly name: string;
  /** Ends everything inside: TERM, then KILL after the grace period. Rejects if the engine does not attest the end. */
  terminate(graceMs: number): Promise<void>;
  /** Explains an exit that is not the process's own; `errors` is the end of what the command printed to stderr. */
  explainExit(errors: string): Promise<PlacementFailure | undefined>;
}

/** Size limits for the in-memory file systems: private homes and temporary folders. */
export const PRIVATE_BYTES = 1024 * 1024 * 1024;
export const SHARED_MEMORY_BYTES = 256 * 1024 * 1024;
const FIRST_DESCRIPTOR = 3;

const FILE_VARIABLES = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'GOOGLE_APPLICATION_CREDENTIALS',
];
/** Variables to remove, because the host's proxies cannot be reached from inside the sandbox. */
const PROXY_VARIABLES = ['ALL_PROXY', 'all_proxy'];

/** Prepares a sandbox for one process. Throws `SandboxError` if this run cannot be sandboxed. */
export async function openSandbox(
  support: Extract<SandboxSupport, { works: true }>,
  request: SandboxRequest,
): Promise<Sandbox> {
  const { network, workdir } = request;
  const home = request.folders.home ?? findHome(request.env);
  rejectBroadFolder(request, home);
  if (network !== 'host' && !support.canIsolateNetwork) {
    throw new SandboxError('bubblewrap cannot create a network namespace on this host');
  }
  const env: Record<string, string> = { ...request.env, HOME: home };
  const { guard, release } = holdGuards(request.guards);
  const [writable] = support.writableKernelFiles;
  const gaps =
    writable === undefined
      ? []
      : [`kernel settings such as ${writable} are writable inside; run Sluice as an ordinary user`];
  refuseGaps(request, gaps);
  let command = request.command;
  const staged: StagedFile[] = [];
  const resources: { files: FileHandle[]; proxy?: Proxy; folder?: string } = { files: [] };
  const scratch = async (): Promise<string> => (resources.folder ??= await mkdtemp(join(tmpdir(), 'sluice-sandbox-')));
  const close = async (): Promise<void> => {
    await Promise.allSettled(staged.splice(0).map(saveStagedFile));
    await Promise.allSettled(resources.files.map(async (file) => file.close()));
    await resources.proxy?.close();
    await release();
    if (resources.folder !== undefined) await rm(resources.folder, { recursive: true, force: true });
  };
  try {
    const isChangeable = await findChangeable(request);
    const { mounts, loneScripts, isSearchComplete } = await listMounts(request, env, {
      isChangeable,
      home,
      guard,
      scratch,
      stage: (file) => staged.push(file),
    });
    if (!isSearchComplete) gaps.push(INCOMPLETE_SEARCH);
    refuseGaps(request, gaps);
    const pin = pinMounts(mounts, isChangeable);
    const temporary = env['TMPDIR'];
    if (temporary !== undefined && !isWritable(temporary, mounts)) env['TMPDIR'] = '/tmp';
    if (typeof network !== 'string') {
      const socket = join(await scratch(), 's');
      resources.proxy = await openProxy(socket, { hosts: network, onDenied: request.onDenied });
      mounts.push({ kind: 'read', at: PROXY_SOCKET, from: socket });
      command = [process.execPath, ...createForwarder({ passesSignals: false }), ...command];
      for (const name of PROXY_VARIABLES) Reflect.deleteProperty(env, name);
      Object.assign(env, createProxyEnvironment(network));
    }
    const descriptors = new Map<string, number>();
    for (const mount of mounts) {
      if (mount.kind !== 'copy') continue;
      descriptors.set(mount.at, FIRST_DESCRIPTOR + resources.files.length);
      resources.files.push(await open(mount.from, 'r'));
    }
    const filter = createCgroupFilter();
    const filterOptions = ['--seccomp', String(FIRST_DESCRIPTOR + resources.files.length)];
    if (filter !== undefined) {
      const file = join(await scratch(), 'filter');
      await writeFile(file, filter);
      resources.files.push(await open(file, 'r'));
    }
    return {
      command: [
        support.program,
        ...NAMESPACES,
        ...(filter === undefined ? [] : filterOptions),
        ...(network === 'host' ? [] : ['--unshare-net']),
        '--hostname',
        'sluice',
        ...support.proc,
        ...BASE,
        ...renderMounts(mounts, descriptors),
        '--remount-ro',
        '/',
        '--chdir',
        workdir,
        '--',
        ...pin(command),
      ],
      env,
      descriptors: resources.files.map(({ fd }) => fd),
      gaps,
      findMissingFile: async (errors) =>
        findMissingSibling(errors, loneScripts, (path) => mounts.some(({ at }) => isWithin(path, at))),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns whether other agents might be changing a file: it is in the working folder, or where requests may work. */
async function findChangeable({ workdir, runDir, folders }: SandboxRequest): Promise<(path: string) => boolean> {
  const roots = await Promise.all((folders.roots ?? []).map(async (root) => realpath(root).catch(() => root)));
  const data = dirname(dirname(runDir));
  return (path) => isWithin(path, workdir) || (!isWithin(path, data) && roots.some((root) => isWithin(path, root)));
}

/** The mounts of every sandbox, which come first because other folders can be inside them. */
const BASE: readonly string[] = [
  '--dev /dev',
  `--perms 1777 --size ${SHARED_MEMORY_BYTES} --tmpfs /dev/shm --remount-ro /dev`,
  `--perms 1777 --size ${PRIVATE_BYTES} --tmpfs /tmp --dir /run --dir /var`,
  // Not a link to /tmp, because nothing could be mounted below a link.
  `--perms 1777 --size ${PRIVATE_BYTES} --tmpfs /var/tmp`,
].flatMap((words) => words.split(' '));

function findHome(env: Readonly<Record<string, string>>): string {
  const home = env['HOME'] ?? homedir();
  // A service might have no home folder, or a device such as /dev/null instead.
  return isAbsolute(home) && home !== '/' && !isInSystem(home) && !`${home}/`.startsWith('/dev/')
    ? home
    : '/home/agent';
}

interface Surroundings {
  readonly isChangeable: (path: string) => boolean;
  readonly home: string;
  readonly guard: GuardGit;
  /** Returns a folder that is removed when the sandbox is closed. */
  readonly scratch: () => Promise<string>;
  readonly stage: (file: StagedFile) => void;
}

async function listMounts(
  request: SandboxRequest,
  env: Readonly<Record<string, string>>,
  { isChangeable, home, guard, scratch, stage }: Surroundings,
) {
  const { workdir, runDir, folders, states, trustedArguments } = request;
  const hidden = await addRealPaths(request.hidden);
  const search = { path: env['PATH'] ?? '', cwd: workdir, home };
  const needsNode = typeof request.network !== 'string';
  const { mounts: programs, loneScripts } = await findProgramFolders(trustedArguments, search);
  const requested = listRequestedFiles(request.requestedFiles.filter((file) => !isWithin(file, workdir)));
  const named: Mount[] = [
    ...programs,
    ...requested.mounts.filter(({ at }) => isChangeable(at)),
    ...(needsNode ? (await findProgramFolders([process.execPath], search)).mounts : []),
    ...(await findStateFolders(states, { privateBytes: PRIVATE_BYTES, scratch, stage })),
    ...(await listVariableFiles(env)),
    ...(await mountExisting('read', folders.read ?? [])),
    ...(await mountExisting('write', folders.write ?? [])),
  ];
  const mounts: Mount[] = [
    ...(await findSystemFolders()),
    folders.home === undefined
      ? { kind: 'private', at: home, bytes: PRIVATE_BYTES }
      : { kind: 'write', at: home, from: folders.home },
    ...(await dropHidden(named, hidden)),
    ...(await mountExisting('read', folders.internal ?? [])),
    ...(await Promise.all((folders.write ?? []).map(async (folder) => guardGitFolder(resolve(folder), guard)))).flat(),
    { kind: 'write', at: workdir, from: workdir },
    // A request chooses a folder inside `roots`, not the repository around them with everything else in it.
    ...(await findGitFolders(workdir, {
      home,
      guard,
      isAllowed: folders.roots === undefined ? () => true : isChangeable,
      commits: folders.commits,
    })),
    { kind: 'write', at: runDir, from: runDir },
  ];
  const writable = [workdir, ...(folders.write ?? []).map((path) => resolve(path))];
  return {
    ...(await completeMounts(mounts, { writable, hidden, guard })),
    loneScripts: [...loneScripts, ...requested.loneScripts],
  };
}

/** Drops mounts of hidden files and of files in hidden folders: a request or a link could name them. */
async function dropHidden(mounts: readonly Mount[], hidden: readonly string[]): Promise<Mount[]> {
  const isHidden = async (mount: Mount): Promise<boolean> => {
    if (!('from' in mount)) return false;
    const real = await realpath(mount.from).catch(() => mount.from);
    return hidden.some((path) => isWithin(real, path));
  };
  const areHidden = await Promise.all(mounts.map(isHidden));
  return mounts.filter((_, index) => areHidden[index] !== true);
}

async function listVariableFiles(env: Readonly<Record<string, string>>): Promise<readonly Mount[]> {
  const paths = FILE_VARIABLES.flatMap((name) => env[name] ?? []).filter(
    (path) => isAbsolute(path) && !isInSystem(path),
  );
  return mountExisting('read', paths);
}

function isWritable(path: string, mounts: readonly Mount[]): boolean {
  return mounts.some(({ kind, at }) => (kind === 'write' || kind === 'private') && isWithin(path, at));
}
