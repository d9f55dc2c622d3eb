import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { closeSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { constants, devNull } from 'node:os';
import { stat } from 'node:fs/promises';
import type { StreamName } from '../../events/index.js';
import { OutputQueue } from './output-queue.js';
import { identifyProcess } from './process-identity.js';
import { findExecutable } from '../../base/files/index.js';
import { getErrorCode, SluiceError } from '../../base/index.js';

/** How a process exited; one of the two fields is null. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** A process's terminal: for all its output, or besides its pipes (`optional`: if the system can open one). */
export type TerminalUse = boolean | 'beside' | 'optional';

/** The process to start, without a shell. */
export interface ProcessCommand {
  /** The executable, by name or path, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The complete environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** The complete input. If omitted, stdin is empty, or the process's terminal. */
  readonly stdin?: string;
  /** Whether its stdin stays open for writing while it runs; `stdin` is then not used. */
  readonly keepInput?: boolean;
  /**
   * Runs the process in a terminal: its output is one stream, `pty`. With `beside` and `optional`, stdout and stderr
   * are pipes, and `pty` is the output to its controlling terminal. `stdin` is a pipe in all cases.
   */
  readonly terminal?: TerminalUse;
  /** The command that starts the process in a sandbox; it is launched instead. */
  readonly sandbox?: SandboxedCommand;
  /** How to install the executable, for the error if it is missing. */
  readonly installHint?: string;
}

/** A command that starts a process in a sandbox, and exits with 128 plus the signal that killed it. */
export interface SandboxedCommand {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Open files that it reads; they become its descriptors 3, 4 and so on. */
  readonly descriptors: readonly number[];
  /** For a container: it has its own executables, and its processes are not those of this command. */
  readonly container?: {
    /** Ends everything inside: TERM, then KILL after the grace period. */
    terminate(graceMs: number): Promise<void>;
  };
}

/** Spawns a process with pipes, with a terminal, or with both. */
export async function spawnProcess(command: ProcessCommand) {
  const { terminal: use = false, cwd, env } = command;
  // A sandbox, or the shell that opens the terminal, would report a missing executable as an exit code.
  const hidesMissing =
    command.sandbox === undefined ? typeof use !== 'boolean' : command.sandbox.container === undefined;
  if (hidesMissing && (await findExecutable(command.command[0], { path: env['PATH'] ?? '', cwd })) === undefined)
    throw await explainLaunchFailure(command, Object.assign(new Error('not found'), { code: 'ENOENT' }));
  const opening = use === false ? undefined : openTerminal();
  const terminal = await (use === 'optional' ? opening?.catch(() => undefined) : opening);
  let launch: Launch;
  try {
    launch = start(command, terminal);
  } catch (cause) {
    terminal?.close();
    throw await explainLaunchFailure(command, cause);
  }
  // There must be no `await` between here and that of `spawned`, or events from the child could be missed.
  const { child, streams } = launch;
  const { pid, stdin } = child;
  const identity = pid === undefined ? undefined : identifyProcess(pid);
  // An error without a listener would crash this process.
  child.on('error', () => undefined);
  const spawned = once(child, 'spawn');
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      stdin?.destroy();
      resolve(command.sandbox === undefined ? { exitCode, signal } : decodeSandboxedExit(exitCode, signal));
    });
  });
  const output = readStreams(streams);
  // A child can exit without reading its input.
  stdin?.on('error', () => undefined);
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    for (const { readable } of streams) readable.destroy();
    terminal?.close();
  };
  try {
    await spawned;
  } catch (cause) {
    close();
    throw await explainLaunchFailure(command, cause);
  }
  if (pid === undefined) throw await explainLaunchFailure(command, undefined);
  if (command.keepInput !== true) stdin?.end(command.stdin);
  return {
    identity: (await identity) ?? { pid, started: null },
    exited,
    /** Unread output makes the process wait when its pipe is full. */
    output,
    /** Its stdin, if it was launched with `keepInput`. Writing does nothing once the process has exited. */
    input: {
      write: (bytes: Uint8Array): void => {
        if (stdin?.writable === true) stdin.write(bytes);
      },
      /** The number of bytes that the process has not read yet. */
      get waiting() {
        return stdin?.writableLength ?? 0;
      },
      close: (): void => void stdin?.end(),
    },
    /** Whether its pipes are closed and only its terminal is open, which never ends by itself. */
    get hasOnlyTerminal() {
      return streams.every(({ name, readable }) => readable.closed !== (name === 'pty'));
    },
    /** Closes the output, even if another process has the other end open; the queue is ended afterwards. */
    close,
  };
}

interface OutputStream {
  readonly name: StreamName;
  readonly readable: Readable;
}

interface Launch {
  readonly child: ChildProcess;
  readonly streams: readonly OutputStream[];
}

/** A session leader gets a controlling terminal by opening it. The command is passed as separate arguments. */
const OPEN_TERMINAL = ': <"$0"; exec "$@"';

function start(command: ProcessCommand, terminal: Terminal | undefined): Launch {
  const { command: argv, env, descriptors } = command.sandbox ?? { ...command, descriptors: [] };
  const hasPipesAndTerminal = terminal !== undefined && command.terminal !== true;
  const [program, ...args] = hasPipesAndTerminal
    ? (['/bin/sh', '-c', OPEN_TERMINAL, terminal.path, ...argv] as const)
    : argv;
  const output = hasPipesAndTerminal ? 'pipe' : (terminal?.fd ?? 'pipe');
  const input = command.stdin === undefined && command.keepInput !== true ? (terminal?.fd ?? 'ignore') : 'pipe';
  const nothing = openTerminals.size === 0 ? undefined : openSync(devNull, 'r');
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: command.cwd,
      env: { ...env },
      // Detached makes it the leader of a new process group, which can be terminated as a whole.
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
      stdio: hideTerminals([input, output, output, ...descriptors], nothing),
    });
  } finally {
    if (nothing !== undefined) closeSync(nothing);
  }
  // If no file descriptor is free, the child has no pipes, and an error follows.
  const outputs: readonly { readonly name: StreamName; readonly readable: Readable | null | undefined }[] = [
    { name: 'stdout' as const, readable: child.stdout },
    { name: 'stderr' as const, readable: child.stderr },
    { name: 'pty' as const, readable: terminal?.output ?? null },
  ];
  return {
    child,
    streams: outputs.flatMap(({ name, readable }) =>
      readable === null || readable === undefined ? [] : [{ name, readable }],
    ),
  };
}

/**
 * The output of all open terminals. The package opens it without close-on-exec, so every process started
 * meanwhile would inherit it, and could read the output of another run's process or type into its terminal.
 */
const openTerminals = new Set<Socket>();

/** Replaces the terminals that a process would inherit with an empty file. */
function hideTerminals(stdio: readonly StdioEntry[], nothing: number | undefined): StdioEntry[] {
  const inherited = [...openTerminals].map(getDescriptor);
  const hidden = inherited.filter((fd): fd is number => fd !== undefined && fd >= stdio.length);
  const entries = [...stdio];
  // For these positions, `ignore` leaves the descriptor as it is.
  while (entries.length <= Math.max(-1, ...hidden)) entries.push('ignore');
  for (const fd of hidden) entries[fd] = nothing;
  return entries;
}

type StdioEntry = 'pipe' | 'ignore' | number | undefined;

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** Returns how the process inside a sandbox exited: its signal is encoded in the exit code, as in shells. */
function decodeSandboxedExit(exitCode: number | null, signal: string | null): ProcessExit {
  const innerSignal = exitCode === null || exitCode <= 128 ? undefined : SIGNAL_NAMES.get(exitCode - 128);
  return innerSignal === undefined ? { exitCode, signal } : { exitCode: null, signal: innerSignal };
}

function readStreams(streams: readonly OutputStream[]): OutputQueue {
  const queue = new OutputQueue((isFlowing) => {
    for (const { readable } of streams) {
      if (isFlowing) readable.resume();
      else readable.pause();
    }
  });
  let open = streams.length;
  for (const { name, readable } of streams) {
    readable.on('data', (bytes: Uint8Array) => queue.push(name, bytes));
    // After a broken pipe, `close` follows as usual.
    readable.on('error', () => undefined);
    readable.once('close', () => {
      open -= 1;
      if (open === 0) queue.end();
    });
  }
  return queue;
}

async function explainLaunchFailure(
  { command, cwd, installHint }: Pick<ProcessCommand, 'command' | 'cwd' | 'installHint'>,
  cause: unknown,
): Promise<SluiceError> {
  const [program] = command;
  return new SluiceError('PROCESS_NOT_STARTED', `Cannot launch "${program}": ${await findReason()}.`, { cause });

  async function findReason(): Promise<string> {
    const folder = await stat(cwd).catch(() => undefined);
    if (folder === undefined) return `the working folder "${cwd}" does not exist. Create it, or use another folder`;
    if (!folder.isDirectory()) return `"${cwd}" is not a folder. Use another working folder`;
    const code = getErrorCode(cause);
    switch (code) {
      case 'ENOENT':
        return installHint === undefined
          ? 'command not found. Install it, add its folder to PATH, or use its full path'
          : `command not found. To install it: ${installHint}. If it is installed, add its folder to PATH, or set its path in "programs" in the configuration`;
      case 'EACCES':
      case 'EPERM':
        return `permission denied. Check its permissions (chmod +x) and those of the working folder`;
      case 'E2BIG':
        return `its arguments and environment are too long for the system. Pass the prompt through stdin`;
      case 'EAGAIN':
      case 'EMFILE':
      case 'ENFILE':
      case 'ENOMEM':
        return `the system cannot start another process (${code}). Start fewer runs at a time`;
      case undefined:
      default:
        return cause instanceof Error ? cause.message : 'the reason is unknown';
    }
  }
}

type Terminal = Awaited<ReturnType<typeof openTerminal>>;

/** The terminal size; wide, so few lines are wrapped. */
const COLUMNS = 200;
const ROWS = 50;

/**
 * Opens a terminal with the optional package `@lydell/node-pty`. The package does not start the process, because the
 * process's end must stay open here: once no process has it open, Node.js ends the output even if there is more to
 * read.
 */
async function openTerminal() {
  const open: unknown = Reflect.get(await loadTerminalPackage(), 'open');
  if (typeof open !== 'function') throw createUnusableError();
  const pair: unknown = Reflect.apply(open, undefined, [{ cols: COLUMNS, rows: ROWS, encoding: null }]);
  const output = getMember(pair, 'master');
  const slave = getMember(pair, 'slave');
  const path = getMember(pair, 'ptsName');
  if (!(output instanceof Socket) || !(slave instanceof Socket) || typeof path !== 'string')
    throw createUnusableError();
  // The package's listener would throw; the caller, which spawns the process, adds its own.
  output.removeAllListeners('error');
  const fd = findOtherDescriptor(path, getDescriptor(slave));
  slave.destroy();
  if (fd === undefined) {
    output.destroy();
    throw createUnusableError();
  }
  openTerminals.add(output);
  output.once('close', () => openTerminals.delete(output));
  return {
    /** The process's end of the terminal, for its stdin, stdout and stderr. */
    fd,
    path,
    output,
    /** Closes both ends once everything has been read. */
    close(): void {
      output.destroy();
      closeSync(fd);
    },
  };
}

/** Finds the other descriptor of the process's end: the stream has its own. */
function findOtherDescriptor(path: string, streamDescriptor: number | undefined): number | undefined {
  const { rdev } = statSync(path);
  return readdirSync('/dev/fd')
    .map(Number)
    .find((fd) => fd !== streamDescriptor && readDevice(fd) === rdev);
}

function readDevice(fd: number): number | undefined {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() ? stats.rdev : undefined;
  } catch {
    // It could be the descriptor of the directory listing, which is closed by now.
    return undefined;
  }
}

function getDescriptor(stream: Socket): number | undefined {
  const fd = getMember(getMember(stream, '_handle'), 'fd');
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}

function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, key) as unknown) : undefined;
}

async function loadTerminalPackage(): Promise<object> {
  try {
    return await import('@lydell/node-pty');
  } catch (cause) {
    throw new SluiceError(
      'PTY_NOT_INSTALLED',
      'Cannot run an agent in a terminal: the package "@lydell/node-pty" is not installed. Run "npm install @lydell/node-pty".',
      { cause },
    );
  }
}

function createUnusableError(): SluiceError {
  return new SluiceError(
    'PTY_NOT_INSTALLED',
    'Cannot run an agent in a terminal: this version of "@lydell/node-pty" is not supported. On Linux or macOS, run "npm install @lydell/node-pty@1.1.0".',
  );
}
