import { constants } from 'node:os';
import type * as NodePty from '@lydell/node-pty';
import { SluiceError } from '../../json/sluice-error.js';
import { findProgram } from './find-program.js';
import type { LaunchedProcess, OutputSink } from './launched-process.js';
import { explainNotStarted } from './not-started.js';
import type { ProcessCommand } from './process-command.js';
import { answersToSignals, identifyProcess } from './process-identity.js';
import type { ProcessEnd } from './running-process.js';

/** The size of a terminal that wraps few lines. */
const COLUMNS = 200;
const ROWS = 50;
/** The terminal package drops what was not read 200 ms after the end: a waiting process is looked at more often. */
const LOOK_MS = 40;

/** Starts a program in a terminal of its own. Needs the optional package `@lydell/node-pty`. */
export async function launchInTerminal(command: ProcessCommand, sink: OutputSink): Promise<LaunchedProcess> {
  if (command.stdin !== undefined) {
    const reason = new Error('a terminal cannot be given a text on stdin; pass it as an argument, or use no terminal');
    throw await explainNotStarted(command, reason);
  }
  const { spawn } = await loadTerminalPackage();
  const terminal = await open(spawn, command);
  const identified = identifyProcess(terminal.pid);
  // Without an encoding the package hands out bytes, whatever its types say.
  terminal.onData((data: string | Uint8Array) => {
    sink.push('pty', typeof data === 'string' ? Buffer.from(data) : data);
  });
  let look: NodeJS.Timeout | undefined;
  const exited = new Promise<ProcessEnd>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      clearInterval(look);
      const name = nameSignal(signal);
      resolve({ exitCode: name === null ? exitCode : null, signal: name });
      sink.end();
    });
  });
  return {
    identity: (await identified) ?? { pid: terminal.pid, started: null },
    exited,
    flow(isFlowing) {
      clearInterval(look);
      if (isFlowing) {
        terminal.resume();
        return;
      }
      terminal.pause();
      // What an ended process left in its terminal is little, and must be read before it is dropped.
      look = setInterval(() => {
        if (answersToSignals(terminal.pid)) return;
        clearInterval(look);
        terminal.resume();
      }, LOOK_MS);
    },
    close() {
      // The package closes the terminal by itself when the program has ended.
    },
  };
}

async function loadTerminalPackage(): Promise<typeof NodePty> {
  try {
    return await import('@lydell/node-pty');
  } catch (cause) {
    throw new SluiceError(
      'PTY_NOT_INSTALLED',
      'Running an agent in a terminal needs the package @lydell/node-pty: npm install @lydell/node-pty',
      { cause },
    );
  }
}

async function open(spawn: typeof NodePty.spawn, command: ProcessCommand): Promise<NodePty.IPty> {
  const { cwd, env } = command;
  const [program, ...args] = command.command;
  // Inside the terminal a failed start is only an exit code, so it is found out before.
  const file = await findProgram(program, { path: env['PATH'] ?? '/usr/bin:/bin', cwd });
  if (file === undefined) {
    throw await explainNotStarted(command, Object.assign(new Error('no such program'), { code: 'ENOENT' }));
  }
  try {
    return spawn(file, args, { cwd, env: { ...env }, cols: COLUMNS, rows: ROWS, encoding: null });
  } catch (cause) {
    throw await explainNotStarted(command, cause);
  }
}

function nameSignal(number: number | undefined): string | null {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? null;
}
