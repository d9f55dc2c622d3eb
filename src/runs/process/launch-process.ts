import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { StreamName } from '../../events/index.js';
import type { LaunchedProcess, OutputSink } from './launched-process.js';
import { explainNotStarted } from './not-started.js';
import { openTerminal } from './open-terminal.js';
import type { Terminal } from './open-terminal.js';
import type { ProcessCommand } from './process-command.js';
import { identifyProcess } from './process-identity.js';
import type { ProcessEnd } from './running-process.js';

/** Starts a program with stdout and stderr in pipes of their own, or both in a terminal. */
export async function launchProcess(command: ProcessCommand, sink: OutputSink): Promise<LaunchedProcess> {
  const terminal = command.terminal === true ? await openTerminal() : undefined;
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
    // Listened to for good: an error nobody listens to would end Sluice.
    child.on('error', reject);
  });
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      stdin?.destroy();
      resolve({ exitCode, signal });
    });
  });
  const started = new Promise<void>((resolve) => {
    child.once('spawn', resolve);
  });
  forward(streams, sink);
  // A child may end without reading what it was given.
  stdin?.on('error', () => undefined);
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    if (terminal === undefined) for (const { readable } of streams) readable.destroy();
    else terminal.close();
  };
  try {
    await Promise.race([started, failure]);
  } catch (cause) {
    close();
    throw await explainNotStarted(command, cause);
  }
  failure.catch(() => undefined);
  if (pid === undefined) throw await explainNotStarted(command, undefined);
  stdin?.end(command.stdin);
  return {
    identity: (await identified) ?? { pid, started: null },
    exited,
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

function start(command: ProcessCommand, terminal: Terminal | undefined): Launch {
  const [program, ...args] = command.command;
  const output = terminal?.fd ?? 'pipe';
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { ...command.env },
    // Detached makes it the leader of a new group, which can be ended as a whole.
    detached: process.platform !== 'win32',
    windowsHide: true,
    shell: false,
    stdio: [command.stdin === undefined ? (terminal?.fd ?? 'ignore') : 'pipe', output, output],
  });
  if (terminal !== undefined) return { child, streams: [{ name: 'pty', readable: terminal.output }] };
  const named = [
    { name: 'stdout' as const, readable: child.stdout },
    { name: 'stderr' as const, readable: child.stderr },
  ];
  return { child, streams: named.flatMap(({ name, readable }) => (readable === null ? [] : [{ name, readable }])) };
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
