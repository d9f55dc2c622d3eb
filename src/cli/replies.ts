import type { CommandIo } from './command-io.js';

/** The lines a person types, one for each question. */
export interface Replies {
  /** The next line; undefined when there will be none. */
  next(): Promise<string | undefined>;
  /** Listens no longer. */
  close(): void;
}

/** An answer is typed by hand. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, only as far as it is asked for. */
export function createReplies(io: CommandIo): Replies {
  const stdin = io.openStdin();
  const chunks = stdin[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let waiting = '';
  return {
    async next() {
      for (;;) {
        const end = waiting.indexOf('\n');
        if (end !== -1) {
          const line = waiting.slice(0, end).replace(/\r$/, '');
          waiting = waiting.slice(end + 1);
          return line;
        }
        // A terminal that has gone is nobody who could answer.
        const chunk = waiting.length > MAX_LINE ? NOTHING : await chunks.next().catch(() => NOTHING);
        if (chunk.done === true) {
          const rest = waiting;
          waiting = '';
          return rest === '' ? undefined : rest;
        }
        waiting += decoder.decode(chunk.value, { stream: true });
      }
    },
    close: () => stdin.close?.(),
  };
}

const NOTHING = { done: true, value: undefined } as const;
