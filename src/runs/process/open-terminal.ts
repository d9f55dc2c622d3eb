import { closeSync, fstatSync, readdirSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { SluiceError } from '../../base/index.js';

/** A terminal, before a program runs in it. */
export interface Terminal {
  /** The program's end, to be its stdin, stdout and stderr. */
  readonly fd: number;
  /** The name under which the program's end can be opened. */
  readonly path: string;
  /** Output of the terminal. */
  readonly output: Readable;
  /** Closes both ends, once everything was read. */
  close(): void;
}

/** The size of a terminal that wraps few lines. */
const COLUMNS = 200;
const ROWS = 50;

/**
 * Opens a terminal with the optional package `@lydell/node-pty`. We hold the program's end as well and start the program
 * ourselves: when no process holds that end any more, Node.js ends the output although there is more to read.
 */
export async function openTerminal(): Promise<Terminal> {
  const open: unknown = Reflect.get(await loadTerminalPackage(), 'open');
  if (typeof open !== 'function') throw createUnusableError();
  const pair: unknown = Reflect.apply(open, undefined, [{ cols: COLUMNS, rows: ROWS, encoding: null }]);
  const output = member(pair, 'master');
  const slave = member(pair, 'slave');
  const path = member(pair, 'ptsName');
  if (!(output instanceof Socket) || !(slave instanceof Socket) || typeof path !== 'string')
    throw createUnusableError();
  // The package would throw; the caller that spawns the program listens instead.
  output.removeAllListeners('error');
  const fd = findOtherDescriptor(path, member(member(slave, '_handle'), 'fd'));
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

/** The stream of the program's end has its own descriptor; the one it was made from is left open, and is ours. */
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
    // The descriptor of the listing itself is closed by now.
    return undefined;
  }
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, key) as unknown) : undefined;
}

async function loadTerminalPackage(): Promise<object> {
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

function createUnusableError(): SluiceError {
  return new SluiceError(
    'PTY_NOT_INSTALLED',
    'Running an agent in a terminal needs another version of @lydell/node-pty, on Linux or macOS: npm install @lydell/node-pty@1.1.0',
  );
}
