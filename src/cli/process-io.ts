import { createReadStream } from 'node:fs';
import { isatty } from 'node:tty';
import { errorCodeOf } from '../base/index.js';
import type { CommandIo, InputStream, OutputStream } from './command-io.js';

/** The real surroundings: this process's streams and the file system. */
export function createProcessIo(): CommandIo {
  return {
    openStdin: (): InputStream => ({
      isTerminal: isatty(process.stdin.fd),
      [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator](),
      close: () => void process.stdin.destroy(),
    }),
    openFile: (path) => createReadStream(path),
    stdout: toOutput(process.stdout, { isData: true }),
    stderr: toOutput(process.stderr, { isData: false }),
  };
}

/**
 * A reader that has gone (`sluice parse | head -1`) is no error of ours: what is left has nowhere to go. Data that cannot
 * be written is one; talk that cannot is let go, since there is nobody to tell.
 */
function toOutput(stream: NodeJS.WriteStream & { readonly fd: number }, { isData }: { isData: boolean }): OutputStream {
  let gone = false;
  stream.on('error', () => {
    gone = true;
  });
  return {
    isTerminal: isatty(stream.fd),
    write: async (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (isData && isRefusal(error)) reject(error);
          else resolve();
        });
      }),
    isGone: () => gone,
  };
}

/** After the first error a stream only says that it is destroyed; that was told. */
function isRefusal(error: Error | null | undefined): error is Error {
  return error instanceof Error && 'syscall' in error && errorCodeOf(error) !== 'EPIPE';
}
