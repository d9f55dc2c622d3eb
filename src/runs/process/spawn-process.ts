import type { StreamName } from '../../events/index.js';
import { identifyProcess } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { findProgram } from '../../files/index.js';
import { openTerminal } from './open-terminal.js';
import type { Terminal } from './open-terminal.js';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { SluiceError, getErrorCode } from '../../base/index.js';

/** The exit of a process: one of the two is null. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Whether a program has a terminal: none, one for all its output, or one in addition to its pipes. */
export type TerminalUse = boolean | 'beside';

/** The program to start, without a shell. */
export interface ProcessCommand {
  /** The program, by name or path, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Given whole, then closed. Without it the program reads an empty input, or its terminal. */
  readonly stdin?: string;
  /** Leaves its input open, to be written to while it runs; `stdin` is not given then. */
  readonly keepInput?: boolean;
  /**
   * Runs the program in a terminal: its output is one stream, `pty`. With `beside` stdout and stderr are pipes, and the
   * terminal is its controlling one: `pty` is what the program writes there. `stdin` still comes through a pipe.
   */
  readonly terminal?: TerminalUse;
  /** Launched instead of the program, to start it in a sandbox. */
  readonly sandbox?: SandboxedCommand;
}

/** The command that starts a program in a sandbox. It exits with 128 plus the number of the signal that ended the program. */
export interface SandboxedCommand {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Open files that it reads, as its descriptors from 3 on. */
  readonly descriptors: readonly number[];
}

/** Where the output of a process goes. */
export interface OutputSink {
  push(stream: StreamName, bytes: Uint8Array): void;
  /** All streams are closed. */
  end(): void;
}

/** The input of a process that was launched with `keepInput`. Writing to one that has ended does nothing. */
export interface ProcessInput {
  write(bytes: Uint8Array): void;
  /** Bytes that the process has not taken yet. */
  readonly waiting: number;
  close(): void;
}

/** A process just spawned, with pipes or in a terminal. */
export interface SpawnedProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ProcessEnd>;
  readonly input: ProcessInput;
  /** Stops and resumes reading; the process waits when its pipe is full. */
  flow(isFlowing: boolean): void;
  /** Closes the output, even if another process holds the other end; the sink's `end` follows. */
  close(): void;
}

/** Spawns a program with a pipe each for stdout and stderr, with both in a terminal, or with a terminal in addition to them. */
export async function spawnProcess(command: ProcessCommand, sink: OutputSink): Promise<SpawnedProcess> {
  const { terminal: use = false, cwd, env } = command;
  // A wrapper (a sandbox, the shell that opens the terminal) would report a missing program as an exit code.
  const isFound = use !== 'beside' && command.sandbox === undefined;
  if (!isFound && (await findProgram(command.command[0], { path: env['PATH'] ?? '', cwd })) === undefined)
    throw await explainNotStarted(command, Object.assign(new Error('not found'), { code: 'ENOENT' }));
  const terminal = use === false ? undefined : await openTerminal();
  let launch: Launch;
  try {
    launch = start(command, terminal);
  } catch (cause) {
    terminal?.close();
    throw await explainNotStarted(command, cause);
  }
  // From here to the first wait in one turn: after it the child may have failed or ended already.
  const { child, streams } = launch;
  const { pid, stdin } = child;
  const identified = pid === undefined ? undefined : identifyProcess(pid);
  const failure = new Promise<never>((_resolve, reject) => {
    // Never removed: an error without a listener would end Sluice.
    child.on('error', reject);
  });
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      stdin?.destroy();
      resolve(command.sandbox === undefined ? { exitCode, signal } : readSandboxedEnd(exitCode, signal));
    });
  });
  const started = new Promise<void>((resolve) => {
    child.once('spawn', resolve);
  });
  forward(streams, sink);
  // A child may end without reading its input.
  stdin?.on('error', () => undefined);
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    for (const { readable } of streams) readable.destroy();
    terminal?.close();
  };
  try {
    await Promise.race([started, failure]);
  } catch (cause) {
    close();
    throw await explainNotStarted(command, cause);
  }
  failure.catch(() => undefined);
  if (pid === undefined) throw await explainNotStarted(command, undefined);
  if (command.keepInput !== true) stdin?.end(command.stdin);
  return {
    identity: (await identified) ?? { pid, started: null },
    exited,
    input: {
      write: (bytes) => {
        if (stdin?.writable === true) stdin.write(bytes);
      },
      get waiting() {
        return stdin?.writableLength ?? 0;
      },
      close: () => stdin?.end(),
    },
    flow(isFlowing) {
      for (const { readable } of streams) {
        if (isFlowing) readable.resume();
        else readable.pause();
      }
    },
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

/**
 * A process gets a controlling terminal by opening one as the leader of a session that has none. The shell does that
 * and becomes the program; it reads nothing of the command but as separate words.
 */
const OPEN_TERMINAL = ': <"$0"; exec "$@"';

function start(command: ProcessCommand, terminal: Terminal | undefined): Launch {
  const { command: own, env, descriptors } = command.sandbox ?? { ...command, descriptors: [] };
  const isBeside = terminal !== undefined && command.terminal === 'beside';
  const [program, ...args] = isBeside ? (['/bin/sh', '-c', OPEN_TERMINAL, terminal.path, ...own] as const) : own;
  const output = isBeside ? 'pipe' : (terminal?.fd ?? 'pipe');
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { ...env },
    // Detached makes it the leader of a new group, which can be ended as a whole.
    detached: process.platform !== 'win32',
    windowsHide: true,
    shell: false,
    stdio: [
      command.stdin === undefined && command.keepInput !== true ? (terminal?.fd ?? 'ignore') : 'pipe',
      output,
      output,
      ...descriptors,
    ],
  });
  const named = [
    { name: 'stdout' as const, readable: child.stdout },
    { name: 'stderr' as const, readable: child.stderr },
    { name: 'pty' as const, readable: terminal?.output ?? null },
  ];
  return { child, streams: named.flatMap(({ name, readable }) => (readable === null ? [] : [{ name, readable }])) };
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** The end of the program inside: its signal is in the exit code, as shells write it. */
function readSandboxedEnd(exitCode: number | null, signal: string | null): ProcessEnd {
  const inside = exitCode === null || exitCode <= 128 ? undefined : SIGNAL_NAMES.get(exitCode - 128);
  return inside === undefined ? { exitCode, signal } : { exitCode: null, signal: inside };
}

function forward(streams: readonly OutputStream[], sink: OutputSink): void {
  let open = streams.length;
  for (const { name, readable } of streams) {
    readable.on('data', (bytes: Uint8Array) => sink.push(name, bytes));
    // A broken pipe ends the stream like any other end.
    readable.on('error', () => undefined);
    readable.once('close', () => {
      open -= 1;
      if (open === 0) sink.end();
    });
  }
}

/** Explains why a program could not be launched, and what to do. */
async function explainNotStarted(
  { command, cwd }: Pick<ProcessCommand, 'command' | 'cwd'>,
  cause: unknown,
): Promise<SluiceError> {
  const [program] = command;
  return new SluiceError('PROCESS_NOT_STARTED', `Cannot launch "${program}": ${await findReason()}.`, { cause });

  async function findReason(): Promise<string> {
    const folder = await stat(cwd).catch(() => undefined);
    if (folder === undefined) return `the working folder ${cwd} does not exist. Create it, or use another`;
    if (!folder.isDirectory()) return `${cwd} is not a folder. Use another working folder`;
    const code = getErrorCode(cause);
    switch (code) {
      case 'ENOENT':
        return `program not found. Install it, put its folder on PATH, or give its full path`;
      case 'EACCES':
      case 'EPERM':
        return `permission denied. Check its permissions (chmod +x) and those of the working folder`;
      case 'E2BIG':
        return `its arguments and environment are too long for the system. Give the prompt on stdin`;
      case 'EAGAIN':
      case 'EMFILE':
      case 'ENFILE':
      case 'ENOMEM':
        return `the system cannot start another process (${code}). Start fewer runs at a time`;
      case undefined:
      default:
        return cause instanceof Error ? cause.message : 'the system reports no reason';
    }
  }
}
