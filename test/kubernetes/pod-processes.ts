import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A pod as a node reads it. */
export interface NodePod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec: {
    readonly initContainers?: readonly NodeContainer[];
    readonly containers: readonly NodeContainer[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string };
      readonly configMap?: { readonly name: string };
    }[];
  };
  readonly status: object;
}

/** A container as a node reads it. */
export interface NodeContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
}

type Command = readonly [string, ...string[]];

/**
 * An image: its program as a command of this host, or, with `root`, the options of bubblewrap that make its file system,
 * in which volumes have their real paths.
 */
type Image =
  | ((command: readonly string[]) => Command)
  | {
      readonly root: readonly string[];
      /** More of these options, which also hold where a volume is above them, such as for a project in `/tmp`. */
      readonly programs?: readonly string[];
      readonly entrypoint?: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

/** The images that can be pulled. */
export type Images = Readonly<Record<string, Image>>;

/** Creates the folders of a pod's volumes, with the files of secrets; returns whether all of these exist. */
export async function mountVolumes(
  { metadata, spec }: NodePod,
  folder: string,
  find: (path: string) => Promise<unknown>,
): Promise<boolean> {
  for (const { name, secret, configMap } of spec.volumes ?? []) {
    await mkdir(join(folder, name), { recursive: true });
    const file = secret === undefined ? configMap && `configmaps/${configMap.name}` : `secrets/${secret.secretName}`;
    if (file === undefined) continue;
    const { data } = ((await find(`/api/v1/namespaces/${metadata.namespace}/${file}`)) ?? {}) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    if (data === undefined) return false;
    for (const [key, value] of Object.entries(data))
      await writeFile(join(folder, name, key), secret === undefined ? value : Buffer.from(value, 'base64'));
  }
  return true;
}

/** Starts the process of a container. */
export async function startContainer(
  container: NodeContainer,
  options: { readonly folder: string; readonly image: Image | undefined; readonly env: Record<string, string> },
): Promise<ChildProcess> {
  const { folder, image, env } = options;
  const { command = [], args = [], volumeMounts = [] } = container;
  if (image === undefined) throw new Error(`the image ${container.image} is missing`);
  const path = { PATH: process.env['PATH'] ?? '' };
  const stdio = ['ignore', 'inherit', 'inherit'] as const;
  let child: ChildProcess;
  if (typeof image === 'function') {
    const mapPaths = createMapping(folder, container);
    const [program, ...rest] = image([...command, ...args].map(mapPaths));
    const mapped = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, mapPaths(value)]));
    child = spawn(program, rest, { cwd: folder, env: { ...path, ...mapped }, stdio: [...stdio] });
  } else {
    const mounts: string[] = [];
    for (const { name, mountPath, subPath = '' } of volumeMounts) {
      await mkdir(join(folder, name, subPath), { recursive: true });
      mounts.push('--bind', join(folder, name, subPath), mountPath);
    }
    const entrypoint = command.length > 0 ? command : (image.entrypoint ?? []);
    const own = ['--unshare-pid', '--as-pid-1', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'];
    const system = [...image.root, ...mounts, ...(image.programs ?? [])];
    const all = [...own, ...system, '--', ...entrypoint, ...args];
    child = spawn('bwrap', all, { cwd: '/', env: { ...path, ...image.env, ...env }, stdio: [...stdio] });
  }
  await once(child, 'spawn');
  return child;
}

/** Signals the processes of a pod, or of one container. When the first one of a container ends, so does all that it has started. */
export function signalAll(
  processes: ReadonlyMap<string, ChildProcess>,
  name: NodeJS.Signals,
  container?: string,
): void {
  for (const [each, child] of processes) {
    if (container !== undefined && each !== container) continue;
    const isEnding = (name === 'SIGKILL' || name === 'SIGTERM') && child.pid !== undefined && !hasExited(child);
    const others = isEnding ? listDescendants(child.pid) : [];
    child.once('exit', () => {
      for (const pid of others) sendKill(pid);
    });
    child.kill(name);
  }
}

function listDescendants(root: number): readonly number[] {
  const pairs = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [root];
  // A child is found after its parent, as the list grows.
  for (const parent of found) for (const [pid = 0, ppid] of pairs) if (ppid === parent) found.push(pid);
  return found.slice(1);
}

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Whether a process has ended. */
export function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The exit code of a process that has ended, as a container runtime reports it. */
export function getExitCode({ exitCode, signalCode }: ChildProcess): number {
  return exitCode ?? (signalCode === 'SIGKILL' ? 137 : 143);
}

/** Replaces the paths of mounted volumes with those of their folders. */
function createMapping(folder: string, { volumeMounts = [] }: NodeContainer): (text: string) => string {
  const longestFirst = volumeMounts.toSorted((left, right) => right.mountPath.length - left.mountPath.length);
  return (text) => {
    const mount = longestFirst.find(({ mountPath }) => text === mountPath || text.startsWith(`${mountPath}/`));
    return mount === undefined ? text : join(folder, mount.name, text.slice(mount.mountPath.length));
  };
}
