import { closeSync, fstatSync, readdirSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { SluiceError } from '../../base/index.js';

/** A terminal, before a process runs in it. */
export interface Terminal {
  /** The process's end of the terminal, for its stdin, stdout and stderr. */
  readonly fd: number;
  /** The path of the process's end. */
  readonly path: string;
  /** Terminal output. */
  readonly output: Readable;
  /** Closes both ends once everything has been read. */
  close(): void;
}

/** The terminal size; wide, so few lines are wrapped. */
const COLUMNS = 200;
const ROWS = 50;

/**
 * Opens a terminal with the optional package `@lydell/node-pty`. The package does not start the process, because the
 * process's end must stay open here: once no process has it open, Node.js ends the output even if there is more to
 * read.
 */
export async function openTerminal(): Promise<Terminal> {
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
  const fd = findOtherDescriptor(path, getMember(getMember(slave, '_handle'), 'fd'));
  slave.destroy();
  if (fd === undefined) {
    output.destroy();
    throw createUnusableError();
  }
  return {
    fd,
    path,
    output,
    close() {
      output.destroy();
      closeSync(fd);
    },
  };
}

/**
 * Finds the other descriptor of the process's end: the stream has its own, and the original descriptor is still open.
 */
function findOtherDescriptor(path: string, streamDescriptor: unknown): number | undefined {
  const { rdev } = statSync(path);
  return readdirSync('/dev/fd')
    .map(Number)
    .find((fd) => fd !== streamDescriptor && readDevice(fd) === rdev);
}

function readDevice(fd: number): number | undefined {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() ? stat.rdev : undefined;
  } catch {
    // It could be the descriptor of the directory listing, which is closed by now.
    return undefined;
  }
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
