import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { getErrorCode } from '../base/index.js';
import { createColoring, wantsColor } from './terminal-text.js';

/** A command's streams and files, passed in so tests can replace them. */
export interface CommandIo {
  /** Called only by commands that read standard input: opening it keeps the process alive. */
  readonly openStdin: () => InputStream;
  readonly openFile: (path: string) => AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Asks the user at the terminal and returns the line they type; undefined if there is no terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
}

interface InputStream extends AsyncIterable<Uint8Array> {
  readonly isTerminal: boolean;
  /** Stops reading: an open input keeps the process alive. */
  readonly close?: () => void;
}

/** Output; a write resolves when it is flushed, so nothing is lost at exit. */
interface OutputStream {
  readonly isTerminal: boolean;
  readonly hasColors?: boolean;
  readonly write: (text: string) => Promise<void>;
  /** Whether the reader has closed the pipe (`| head -1`). */
  readonly isGone?: () => boolean;
}

/** Uses this process's streams and the file system; the command line decides about colors. */
export function createProcessIo(argv: readonly string[]): CommandIo {
  return {
    openStdin: (): InputStream => ({
      isTerminal: isatty(process.stdin.fd),
      [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator](),
      close: () => void process.stdin.destroy(),
    }),
    openFile: (path) => createReadStream(path),
    stdout: toOutput(process.stdout, argv, { isData: true }),
    stderr: toOutput(process.stderr, argv, { isData: false }),
    ask: isatty(0) && isatty(2) ? askTerminal : undefined,
  };
}

/**
 * A closed pipe (`sluice parse | head -1`) is not an error. Other write failures are errors for data; messages that
 * cannot be written are dropped.
 */
function toOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
  argv: readonly string[],
  { isData }: { isData: boolean },
): OutputStream {
  let isGone = false;
  const isTerminal = isatty(stream.fd);
  const hasColors = wantsColor(argv, process.env, isTerminal);
  const color = hasColors ? createColoring() : (text: string): string => text;
  stream.on('error', () => {
    isGone = true;
  });
  return {
    isTerminal,
    hasColors,
    write: async (text) =>
      new Promise((resolve, reject) => {
        stream.write(color(text), (error) => {
          // Only a failed system call counts: after one, every later write fails because the stream is destroyed.
          const isFailure = error instanceof Error && 'syscall' in error && getErrorCode(error) !== 'EPIPE';
          if (isData && isFailure) reject(error);
          else resolve();
        });
      }),
    isGone: () => isGone,
  };
}

/** Longer than any answer that a user types. */
const MAX_ANSWER_BYTES = 4096;

/** Asks on the terminal itself, because standard input is the command's input. */
async function askTerminal(question: string): Promise<string> {
  const terminal = await open('/dev/tty', 'r+').catch(() => undefined);
  if (terminal === undefined) return '';
  try {
    await terminal.write(question);
    const { buffer, bytesRead } = await terminal.read(Buffer.alloc(MAX_ANSWER_BYTES), 0, MAX_ANSWER_BYTES, null);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await terminal.close();
  }
}
