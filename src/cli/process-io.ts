import { createReadStream } from 'node:fs';
import { isatty } from 'node:tty';
import type { CommandIo, InputStream, OutputStream } from './command-io.js';

/** The real surroundings: this process's streams and the file system. */
export function createProcessIo(): CommandIo {
  return {
    openStdin: (): InputStream => ({
      isTerminal: isatty(process.stdin.fd),
      [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator](),
    }),
    openFile: (path) => createReadStream(path),
    stdout: toOutput(process.stdout),
    stderr: toOutput(process.stderr),
  };
}

function toOutput(stream: NodeJS.WriteStream & { readonly fd: number }): OutputStream {
  let gone = false;
  // A reader that has gone (`sluice parse | head -1`) is no error of ours: what is left has nowhere to go.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  return {
    isTerminal: isatty(stream.fd),
    write: async (text) =>
      new Promise((resolve) => {
        stream.write(text, () => {
          resolve();
        });
      }),
    isGone: () => gone,
  };
}
