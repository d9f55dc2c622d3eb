import type { CommandIo } from './command-io.js';

/** The lines a person types, one for each question. */
export interface Replies {
  /** The next line; undefined when there will be none. */
  next(): Promise<string | undefined>;
}

/** An answer is typed by hand. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, only as far as it is asked for. */
export function createReplies(io: CommandIo): Replies {
  const chunks = io.openStdin()[Symbol.asyncIterator]();
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
        const chunk = waiting.length > MAX_LINE ? { done: true as const, value: undefined } : await chunks.next();
        if (chunk.done === true) {
          const rest = waiting;
          waiting = '';
          return rest === '' ? undefined : rest;
        }
        waiting += decoder.decode(chunk.value, { stream: true });
      }
    },
  };
}
