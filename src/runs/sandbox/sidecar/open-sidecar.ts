import { chmod, lstat, opendir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWithin } from '../../../base/files/index.js';
import { getErrorMessage } from '../../../base/index.js';
import { PlacementError } from '../container/placement-error.js';
import { SandboxError } from '../mounts/mount.js';
import type { Sandbox, SandboxRequest } from '../open-sandbox.js';
import { createSidecarClient } from './sidecar-programs.js';

/** A process in the agent's container of a pod. */
export type SidecarRequest = Pick<SandboxRequest, 'command' | 'workdir' | 'env' | 'runDir' | 'network'>;

/** Variables of the worker's container that have no meaning in the agent's. */
const OWN_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];
/** Time for the agent's container to start: its image might still be pulled. */
const START_MS = 600_000;
const RETRY_MS = 250;

/** The connection to the agent's container. */
interface JoinedSidecar {
  /** Resolves when the container has ended before it was closed. */
  readonly lost: Promise<void>;
  readonly close: () => void;
}

/**
 * Connects to the agent's container, as soon as it has started, and stays connected: the container exits with this
 * process. Throws `PlacementError` if it does not start in time.
 */
export async function joinSidecar(socket: string, startMs = START_MS): Promise<JoinedSidecar> {
  const until = Date.now() + startMs;
  for (;;) {
    try {
      const { connection } = await ask(socket, {}, 'ready');
      let isClosed = false;
      const lost = new Promise<void>((resolve) => {
        connection.once('close', () => isClosed || resolve());
      });
      const close = (): void => {
        isClosed = true;
        connection.end();
      };
      return { lost, close };
    } catch (error) {
      if (Date.now() > until)
        throw new PlacementError('unknown', `the container of the agent does not answer: ${getErrorMessage(error)}`);
      await sleep(RETRY_MS);
    }
  }
}

/**
 * Prepares a process in the agent's container, which has another user and shares only the workspace and this socket.
 * Throws `SandboxError` for what a pod cannot guarantee.
 */
export async function openSidecar(socket: string, request: SidecarRequest): Promise<Sandbox> {
  const { command, workdir, runDir, network } = request;
  if (network !== 'host')
    throw new SandboxError('the network of a pod is limited by network policies only; use network "host"');
  await share(workdir, dirname(dirname(runDir)), true);
  await share(runDir, dirname(dirname(runDir)), false);
  const env = Object.fromEntries(Object.entries(request.env).filter(([name]) => !OWN_VARIABLES.includes(name)));
  // Git refuses a repository of another user.
  const trust = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  return {
    command: [process.execPath, '-e', createSidecarClient(), '--', socket, ...command],
    env: { ...trust, ...env },
    descriptors: [],
    gaps: [],
    container: {
      name: 'agent',
      async terminate(graceMs) {
        const { connection } = await ask(socket, { terminate: graceMs }, 'ended');
        connection.destroy();
      },
      async explainExit(errors) {
        const problem = /Cannot reach the container of the agent: .*/.exec(errors)?.[0];
        return problem === undefined ? undefined : { cause: 'unknown', reason: problem };
      },
    },
    findMissingFile: async () => undefined,
    close: async () => undefined,
  };
}

/** Sends a request and waits for the answer. */
async function ask(socket: string, request: object, answer: string): Promise<{ readonly connection: Socket }> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket);
    connection.once('error', reject);
    connection.once('close', () => reject(new Error('the connection was closed')));
    connection.write(`${JSON.stringify(request)}\n`);
    connection.once('data', (data: Buffer) => {
      if (data.toString() === answer) resolve({ connection });
      else reject(new Error('unexpected answer'));
    });
  });
}

const GROUP_ENTER = 0o010;
const GROUP_ALL = 0o070;

/**
 * Gives the agent's user, who is in the same group, access to a folder; the folders above it can only be passed. Files
 * of the worker beside it, such as the recorded bytes, stay private.
 */
async function share(folder: string, root: string, isRecursive: boolean): Promise<void> {
  for (let above = dirname(folder); isWithin(root, above); above = dirname(above)) await allow(above, GROUP_ENTER);
  await allow(folder, GROUP_ALL);
  for await (const entry of await opendir(folder, { recursive: isRecursive })) {
    if (entry.isSymbolicLink() || (!isRecursive && entry.isDirectory())) continue;
    await allow(join(entry.parentPath, entry.name), entry.isDirectory() ? GROUP_ALL : 0o060);
  }
}

async function allow(path: string, bits: number): Promise<void> {
  const { mode, uid } = await lstat(path);
  if (uid === process.getuid?.() && (mode & bits) !== bits) await chmod(path, (mode & 0o7777) | bits);
}
