import type { CommandIo } from './command-io.js';

/** The lines that the user types, one per question. */
export interface Replies {
  /** Returns the next line; undefined at the end of the input. */
  next(): Promise<string | undefined>;
  /** Stops reading. */
  close(): void;
}

/** A longer line is returned in parts; typed replies are far shorter. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, on demand. */
export function createReplies(io: CommandIo): Replies {
  const stdin = io.openStdin();
  const chunks = stdin[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let pending = '';
  return {
    async next() {
      for (;;) {
        const end = pending.indexOf('\n');
        if (end !== -1) {
          const line = pending.slice(0, end).replace(/\r$/, '');
          pending = pending.slice(end + 1);
          return line;
        }
        // An error, such as a closed terminal, counts as the end of the input.
        const chunk = pending.length > MAX_LINE ? END : await chunks.next().catch(() => END);
        if (chunk.done === true) {
          const lastLine = pending;
          pending = '';
          return lastLine === '' ? undefined : lastLine;
        }
        pending += decoder.decode(chunk.value, { stream: true });
      }
    },
    close: () => stdin.close?.(),
  };
}

const END = { done: true, value: undefined } as const;
