import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SluiceError } from '../../../base/index.js';
import {
  INCOMPLETE_SEARCH,
  addRealPaths,
  completeMounts,
  refuseGaps,
  rejectBroadFolder,
} from '../mounts/complete-mounts.js';
import { findGitFolders, holdGuards, type GuardGit } from '../mounts/git-folders.js';
import { SandboxError, sortMounts, type Mount } from '../mounts/mount.js';
import { PROXY_SOCKET, createForwarder, createProxyEnvironment, openProxy } from '../network/proxy.js';
import type { Proxy } from '../network/proxy.js';
import { PRIVATE_BYTES, SHARED_MEMORY_BYTES, type Sandbox, type SandboxRequest } from '../open-sandbox.js';
import { findProblem, inspectContainer, removeContainer, wasKilled, type ContainerEngine } from './container-engine.js';
import { PlacementError, type PlacementFailure } from './placement-error.js';

/** A command to run in a container. Folders are absolute and without links. */
export interface ContainerRequest extends Pick<
  SandboxRequest,
  'command' | 'workdir' | 'env' | 'runDir' | 'hidden' | 'isRequired' | 'guards' | 'network' | 'onDenied'
> {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  readonly cpu?: number | undefined;
  /** Such as `512Mi`. */
  readonly memory?: string | undefined;
  /** Variables for the command that starts the container, besides those of this process. */
  readonly engineEnv: Readonly<Record<string, string>>;
  /** The folder on the host that is its home folder. */
  readonly home: string;
}

const HOME = '/home/agent';
/** Variables that describe the host, and not what the process should do. */
const HOST_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'ALL_PROXY', 'all_proxy'];
/** Creating a container copies nothing, but the host can be busy. */
const CREATE_MS = 120_000;
/** The time for the engine itself, besides the grace period of the process. */
const STOP_MS = 30_000;

/**
 * Creates a container for one process, and returns the command that starts it and connects to its streams. Inside, only
 * the image, the working folder with its repository, the run folder and a private home exist. Throws `SandboxError` if
 * a guarantee is missing, and `PlacementError` with the engine's reason if the container cannot be created.
 */
export async function openContainer(engine: ContainerEngine, request: ContainerRequest): Promise<Sandbox> {
  const { name, network, workdir } = request;
  rejectBroadFolder(request, homedir());
  if (typeof network !== 'string' && process.platform !== 'linux')
    throw new SandboxError('a list of hosts needs Linux; use network "none" or "host"');
  const { guard, release } = holdGuards(request.guards);
  const resources: { proxy?: Proxy; folder?: string; id?: string } = {};
  const close = async (): Promise<void> => {
    const isGone = resources.id === undefined || (await removeContainer(engine, resources.id));
    await resources.proxy?.close();
    await release();
    if (resources.folder !== undefined) await rm(resources.folder, { recursive: true, force: true });
    if (!isGone) throw createNotEndedError(engine, name);
  };
  try {
    const user = chooseUser(engine);
    const { mounts, isSearchComplete } = await listMounts(request, guard);
    const gaps = [...user.gaps, ...(isSearchComplete ? [] : [INCOMPLETE_SEARCH])];
    refuseGaps(request, gaps);
    const env = selectContainerEnvironment(request.env);
    let { command } = request;
    if (typeof network !== 'string') {
      resources.folder = await mkdtemp(join(tmpdir(), 'sluice-container-'));
      const socket = join(resources.folder, 's');
      resources.proxy = await openProxy(socket, { hosts: network, onDenied: request.onDenied });
      mounts.push({ kind: 'read', at: PROXY_SOCKET, from: socket });
      command = ['node', ...createForwarder({ passesSignals: true }), ...command];
      Object.assign(env, createProxyEnvironment(network));
    }
    const variables = renderVariables(env);
    const args = [
      'create',
      ...LIMITS,
      ...(engine.name === 'podman' ? ['--http-proxy=false'] : []),
      ...(engine.name === 'podman' && network === 'host' ? HOST_NETWORK_MASKS : []),
      `--name=${name}`,
      '--hostname=sluice',
      `--workdir=${workdir}`,
      ...Object.entries(request.labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
      `--network=${network === 'host' ? 'host' : 'none'}`,
      ...user.args,
      ...renderSize(request),
      ...renderMounts(mounts, engine),
      ...variables.args,
      // The image's own entry point would change what is started.
      '--entrypoint=',
      request.image,
      ...command,
    ];
    resources.id = await createContainer(engine, request, args, variables.env);
    const { id } = resources;
    const ownEnv = Object.fromEntries(Object.entries(process.env).map(([key, value = '']) => [key, value]));
    return {
      command: [...engine.command, 'start', '--attach', '--interactive', id],
      env: { ...ownEnv, ...request.engineEnv },
      descriptors: [],
      gaps,
      container: {
        name,
        terminate: async (graceMs) => terminateContainer(engine, id, graceMs),
        explainExit: async (errors) => explainExit(engine, request, id, errors),
      },
      findMissingFile: async () => undefined,
      close,
    };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

const LIMITS: readonly string[] = [
  '--interactive --init --pull never --log-driver none --no-healthcheck --stop-signal SIGTERM',
  '--read-only --cap-drop all --security-opt no-new-privileges --security-opt label=disable',
  `--shm-size ${SHARED_MEMORY_BYTES}`,
  ...['/tmp', '/var/tmp'].map((path) => `--tmpfs ${path}:rw,exec,nosuid,nodev,mode=1777,size=${PRIVATE_BYTES}`),
].flatMap((words) => words.split(' '));

/**
 * With the network of the host, Podman mounts the host's `/sys` with everything below it, and only the top is read-only:
 * a user who is root outside could write to all control groups, and so freeze other processes and leave its limits.
 */
const HOST_NETWORK_MASKS = ['--security-opt', 'mask=/sys/fs:/sys/kernel'];

/** Creates the container. One of that name is left from an earlier process, because a run has one: it is removed. */
async function createContainer(
  engine: ContainerEngine,
  { name, image }: ContainerRequest,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const create = async () => engine.run(args, { timeoutMs: CREATE_MS, env });
  let answer = await create();
  if (answer.exitCode !== 0 && /name .* (?:is already )?in use/i.test(answer.problem)) {
    await removeContainer(engine, name);
    answer = await create();
  }
  const id = answer.stdout.trim();
  if (answer.exitCode === 0 && id !== '') return id;
  // Killed after a time-out, the engine might have created it nevertheless.
  if (answer.exitCode === null) await removeContainer(engine, name);
  const isImage = /image|manifest|reference format|pull/i.test(answer.problem);
  const reason = `cannot create a container from the image "${image}": ${answer.problem}`;
  throw new PlacementError(isImage ? 'image' : 'unknown', reason);
}

async function terminateContainer(engine: ContainerEngine, id: string, graceMs: number): Promise<void> {
  const seconds = Math.max(1, Math.round(graceMs / 1000));
  await engine.run(['stop', '--time', String(seconds), id], { timeoutMs: graceMs + STOP_MS });
  let found = await inspectContainer(engine, id);
  if (found?.state === 'alive') {
    await engine.run(['kill', id]);
    found = await inspectContainer(engine, id);
  }
  // One that was never started has nothing to end; it is removed when it is closed.
  if (found === undefined || found.state === 'alive') throw createNotEndedError(engine, id);
}

function createNotEndedError({ name, command }: ContainerEngine, container: string): SluiceError {
  return new SluiceError(
    'PROCESS_NOT_ENDED',
    `${name} does not confirm that the container ${container} has ended. Check the engine, and remove the container manually (${command.join(' ')} rm --force ${container}).`,
  );
}

/** The identifiers that a user namespace has, as in every distribution's defaults. */
const IDS = 65_536;
/** The user inside that stands for root, which then is not root inside either. */
const AGENT_ID = 1000;

/** Chooses the user inside: the one who runs Sluice, so that files belong to the same user on both sides. */
function chooseUser(engine: ContainerEngine): { readonly args: readonly string[]; readonly gaps: readonly string[] } {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (engine.name === 'podman') {
    if (engine.isRootless) return { args: ['--userns', 'keep-id'], gaps: [] };
    const [user, group] = [uid === 0 ? AGENT_ID : uid, gid === 0 ? AGENT_ID : gid];
    const args = [...listMappings('--uidmap', user, uid), ...listMappings('--gidmap', group, gid)];
    return { args: [...args, '--user', `${user}:${group}`], gaps: [] };
  }
  // Root inside is this user outside.
  if (engine.isRootless) return { args: ['--user', '0:0'], gaps: [] };
  const gaps = uid === 0 ? ['its process is root on this host too; run Sluice as an ordinary user, or use Podman'] : [];
  return { args: ['--user', `${uid}:${gid}`], gaps };
}

/** Maps all identifiers to themselves, and exchanges two of them. */
function listMappings(option: string, inside: number, outside: number): string[] {
  const [low, high] = [Math.min(inside, outside), Math.max(inside, outside)];
  const ranges =
    low === high
      ? [[0, 0, Math.max(IDS, high + 1)]]
      : [
          [low, high, 1],
          [low + 1, low + 1, high - low - 1],
          [high, low, 1],
          [high + 1, high + 1, IDS - high - 1],
        ];
  return ranges.flatMap((range) => [option, range.join(':')]);
}

/** The exit codes of a process that was killed, and of one that was asked to end, as by `podman stop`. */
const [KILLED, STOPPED] = [137, 143];

/** Podman records the exit code of a container a little after its end; until then it is 0. */
const CODE_TRIES = 6;
const CODE_PAUSE_MS = 500;

/** How the first process of a container (Podman's catatonit, Docker's tini) reports that the command does not exist. */
const MISSING_PROGRAM = /^(?:ERROR \(catatonit:\d+\): failed to exec pid1: |\[FATAL tini \(\d+\)\] )(.*)$/m;

async function explainExit(
  engine: ContainerEngine,
  { memory, image, command }: ContainerRequest,
  id: string,
  errors: string,
): Promise<PlacementFailure | undefined> {
  let found = await inspectContainer(engine, id);
  for (let tries = 1; found?.state === 'gone' && found.exitCode === 0; tries += 1) {
    if (tries === CODE_TRIES) break;
    await sleep(CODE_PAUSE_MS);
    found = await inspectContainer(engine, id);
  }
  if (found === undefined) return { cause: 'unknown', reason: `${engine.name} does not answer` };
  if (found.state === 'absent') return { cause: 'evicted', reason: 'it was removed while it was running' };
  const cannotStart = `cannot start "${command[0]}" in the image "${image}"`;
  if (found.state === 'pending')
    return { cause: 'image', reason: `${cannotStart}: ${findProblem(errors) ?? 'no reason given'}` };
  if (found.state === 'alive') return { cause: 'unknown', reason: 'the connection to it was lost' };
  if (found.isOutOfMemory && found.exitCode === KILLED)
    return { cause: 'oom', reason: `it used more than its memory${memory === undefined ? '' : ` (${memory})`}` };
  if (found.exitCode === KILLED && (await wasKilled(engine, id)))
    return { cause: 'evicted', reason: `it was killed through ${engine.name}` };
  // Stopped, which not every version of Podman records, or killed from outside. With a limit, that can be the reason.
  if (found.exitCode === STOPPED || (found.exitCode === KILLED && memory === undefined))
    return { cause: 'evicted', reason: 'it was stopped by a signal, not by Sluice' };
  const problem = MISSING_PROGRAM.exec(errors)?.[1];
  return problem === undefined ? undefined : { cause: 'image', reason: `${cannotStart}: ${problem}` };
}

/** The mounts of a container: what the image lacks. */
async function listMounts(request: ContainerRequest, guard: GuardGit) {
  const { workdir, runDir, home } = request;
  const listed: Mount[] = [
    { kind: 'write', at: HOME, from: home },
    { kind: 'write', at: workdir, from: workdir },
    ...(await findGitFolders(workdir, { home: homedir(), guard, isAllowed: () => false })),
    { kind: 'write', at: runDir, from: runDir },
  ];
  return completeMounts(listed, { writable: [workdir], hidden: await addRealPaths(request.hidden), guard });
}

/** Renders mounts for both engines, which sort them by depth. */
function renderMounts(mounts: readonly Mount[], engine: Pick<ContainerEngine, 'name'>): string[] {
  // Podman would copy what is hidden.
  const empty = engine.name === 'podman' ? ',notmpcopyup' : '';
  return sortMounts(mounts).flatMap((mount) => {
    const { at } = mount;
    // Both engines split this at commas.
    if (/[,"\n\r]/.test(at)) throw new SandboxError(`the path "${at}" contains a comma or a quotation mark`);
    switch (mount.kind) {
      case 'read':
        return ['--mount', `type=bind,source=${mount.from},target=${at},readonly`];
      case 'write':
        return ['--mount', `type=bind,source=${mount.from},target=${at}`];
      case 'hidden':
        if (mount.isFolder) return ['--tmpfs', `${at}:ro,size=65536,mode=0555${empty}`];
        return ['--mount', `type=bind,source=/dev/null,target=${at},readonly`];
      case 'private':
      case 'copy':
      case 'link':
        return [];
    }
  });
}

const MEMORY_UNITS: Readonly<Record<string, string>> = { Ki: 'k', Mi: 'm', Gi: 'g' };

function renderSize({ cpu, memory }: Pick<ContainerRequest, 'cpu' | 'memory'>): string[] {
  const bytes = memory?.replace(/[KMG]i$/, (unit) => MEMORY_UNITS[unit] ?? unit);
  return [
    ...(cpu === undefined ? [] : ['--cpus', String(cpu)]),
    // Without swap, so that the limit is the one that was asked for.
    ...(bytes === undefined ? [] : ['--memory', bytes, '--memory-swap', bytes]),
  ];
}

function selectContainerEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(env).filter(([variable]) => !HOST_VARIABLES.includes(variable));
  return { ...Object.fromEntries(entries), HOME };
}

/** Variables that the engine itself reads: an agent's value must not reach it. */
const ENGINE_VARIABLE =
  /^(?:PATH|HOME|USER|TMPDIR|(?:XDG|CONTAINERS?|DOCKER|PODMAN|STORAGE|DBUS|SSH|LD)_.*|.*_proxy)$/i;

/** Passes variables by name, so that no secret is in the command, which other users of the host can read. */
function renderVariables(env: Readonly<Record<string, string>>) {
  const entries = Object.entries(env);
  return {
    args: entries.flatMap(([name, value]) => ['--env', ENGINE_VARIABLE.test(name) ? `${name}=${value}` : name]),
    env: Object.fromEntries(entries.filter(([name]) => !ENGINE_VARIABLE.test(name))),
  };
}
