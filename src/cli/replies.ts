import type { CommandIo } from './command-io.js';

/** The lines a person types, one per question. */
export interface Replies {
  /** The next line; undefined when there will be none. */
  next(): Promise<string | undefined>;
  /** Stops reading. */
  close(): void;
}

/** Replies are typed by hand. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, on demand. */
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
        // A closed terminal sends no replies.
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
