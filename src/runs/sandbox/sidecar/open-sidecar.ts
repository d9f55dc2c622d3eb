import { chmod, lstat, opendir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWithin } from '../../../base/files/index.js';
import { getErrorMessage } from '../../../base/index.js';
import { PlacementError } from '../container/placement-error.js';
import { SandboxError } from '../mounts/mount.js';
import type { Sandbox, SandboxRequest } from '../open-sandbox.js';

/** A process in the agent's container of a pod. */
export type SidecarRequest = Pick<SandboxRequest, 'command' | 'workdir' | 'env' | 'runDir' | 'network'>;

/** Variables of the worker's container that have no meaning in the agent's. */
const OWN_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];
/** Time for the agent's container to start: its image might still be pulled. */
const START_MS = 600_000;
const RETRY_MS = 250;

interface JoinedSidecar {
  /** Resolves when the container has ended before it was closed. */
  readonly lost: Promise<void>;
  readonly close: () => void;
}

/** Connects to the agent's container, once it has started; it exits with this process. Throws `PlacementError`. */
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

/** Prepares a process in the agent's container. Throws `SandboxError` for what a pod cannot guarantee. */
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

/** Both ends of a connection write and read frames. */
const FRAMES = `
const frame = (type, data) => {
  const head = Buffer.alloc(5);
  head.writeUInt8(type);
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
};
const drain = async (stream) => new Promise((resolve) => {
  const done = () => {
    for (const name of ['drain', 'close']) stream.off(name, done);
    resolve();
  };
  for (const name of ['drain', 'close']) stream.on(name, done);
});
async function* readFrames(connection) {
  let rest = Buffer.alloc(0);
  for await (const bytes of connection) {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      yield { type: rest[0], data: rest.subarray(5, end) };
      rest = rest.subarray(end);
    }
  }
}
`;

/**
 * Creates the program of the agent's container in a pod: `node -e PROGRAM -- SOCKET`. It starts what the worker asks for
 * and passes its streams, as frames of a type (0 stdin, 1 stdout, 2 stderr, 3 the end), four bytes of length, and the
 * data; an empty frame ends stdin, because the end of the connection means that the worker was killed. It ends
 * everything in its container when a process has ended, and exits with the worker. It has no secrets: what connects to
 * its socket from inside its own container can only start a process that it could have started itself.
 */
export function createSidecar(): string {
  return `
const net = process.getBuiltinModule('node:net');
const { constants } = process.getBuiltinModule('node:os');
const { spawn } = process.getBuiltinModule('node:child_process');
const fs = process.getBuiltinModule('node:fs');
const [socket, waitMs = '600000'] = process.argv.slice(1);
// The worker is another user of the same group.
process.umask(0o007);
let child;
let group;
const signalAll = (signal) => {
  // As the first process of its container it reaches all others; otherwise those of the agent's group.
  try { return process.kill(process.pid === 1 ? -1 : -group, signal); } catch { return false; }
};
const isRunning = (pid) => {
  // What is left of an ended process does not count: nothing here waits for it.
  try { return !/\\) [ZX]/.test(fs.readFileSync('/proc/' + pid + '/stat', 'utf8')); } catch { return false; }
};
const hasOthers = () => process.pid === 1
  ? fs.readdirSync('/proc').some((name) => /^\\d+$/.test(name) && name !== '1' && isRunning(name))
  : group !== undefined && signalAll(0);
const isOver = () => (group === undefined || child.exitCode !== null || child.signalCode !== null) && !hasOthers();
${FRAMES}
const pass = async (stream, type, connection) => {
  for await (const data of stream)
    if (!connection.write(frame(type, data)) && !connection.destroyed) await drain(connection);
};
const feed = async (connection, stdin) => {
  for await (const { data } of readFrames(connection)) {
    if (data.length === 0) stdin.end();
    else if (!stdin.write(data)) await drain(stdin);
  }
};
const end = async (graceMs) => {
  const until = Date.now() + graceMs;
  signalAll('SIGTERM');
  while (!isOver()) {
    if (Date.now() >= until) signalAll('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const start = async ({ command: [program, ...args], cwd, env }, connection) => {
  if (!isOver()) await end(0);
  const { PATH = '', HOME = '/' } = process.env;
  child = spawn(program, args, { cwd, env: { PATH, HOME, ...env }, detached: true });
  group = child.pid;
  const { stdin, stdout, stderr } = child;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve({ error: error.message }));
    child.once('exit', (code, signal) => resolve({ code: code ?? 128 + constants.signals[signal] }));
  });
  stdin.on('error', () => undefined);
  feed(connection, stdin).catch(() => undefined);
  let isDone = false;
  connection.once('close', () => isDone || signalAll('SIGKILL'));
  const passing = Promise.all([pass(stdout, 1, connection), pass(stderr, 2, connection)]).catch(() => undefined);
  const how = await ended;
  // What the process has left behind keeps its streams open.
  if (!isOver()) await Promise.race([passing, new Promise((resolve) => setTimeout(resolve, 200))]);
  if (group !== undefined) await end(500);
  await passing;
  isDone = true;
  connection.end(frame(3, Buffer.from(JSON.stringify(how))));
};
let patience = setTimeout(() => process.exit(1), Number(waitMs));
const server = net.createServer((connection) => {
  connection.on('error', () => connection.destroy());
  let head = Buffer.alloc(0);
  const read = (data) => {
    head = Buffer.concat([head, data]);
    const index = head.indexOf(10);
    if (index < 0) return;
    connection.off('data', read);
    connection.pause();
    const request = JSON.parse(head.subarray(0, index).toString());
    if (index + 1 < head.length) connection.unshift(head.subarray(index + 1));
    if (request.command !== undefined) start(request, connection).catch(() => connection.destroy());
    else if (request.terminate !== undefined) end(request.terminate).then(() => connection.end('ended'));
    else {
      clearTimeout(patience);
      connection.write('ready');
      connection.resume();
      // The worker has ended, or was killed.
      connection.once('end', () => { signalAll('SIGKILL'); process.exit(0); });
      connection.once('close', () => { signalAll('SIGKILL'); process.exit(0); });
    }
  };
  connection.on('data', read);
});
server.listen(socket, () => fs.chmodSync(socket, 0o660));
`;
}

/**
 * Creates the program that the worker starts instead of the agent: `node -e PROGRAM -- SOCKET COMMAND…`. Its streams and
 * its exit are those of the process that the sidecar starts for it; the process gets its variables and its folder.
 */
function createSidecarClient(): string {
  return `
const net = process.getBuiltinModule('node:net');
const [socket, ...command] = process.argv.slice(1);
${FRAMES}
const connection = net.connect(socket);
connection.write(JSON.stringify({ command, cwd: process.cwd(), env: process.env }) + '\\n');
const fail = (why) => { process.stderr.write('Cannot reach the container of the agent: ' + why + '\\n', () => process.exit(125)); };
const write = async (stream, data) => stream.write(data) || drain(stream);
const pass = async () => {
  for await (const data of process.stdin) if (data.length > 0) await write(connection, frame(0, data));
  connection.write(frame(0, Buffer.alloc(0)));
};
const read = async () => {
  let how;
  for await (const { type, data } of readFrames(connection)) {
    if (type === 3) how = JSON.parse(data.toString());
    else await write(type === 1 ? process.stdout : process.stderr, data);
  }
  if (how === undefined) return fail('the connection was lost');
  if (how.error !== undefined) return process.stderr.write('Cannot launch "' + command[0] + '": ' + how.error + '\\n', () => process.exit(127));
  process.stdout.write('', () => process.stderr.write('', () => process.exit(how.code)));
};
pass().catch(() => undefined);
read().catch((error) => fail(error.message));
`;
}
