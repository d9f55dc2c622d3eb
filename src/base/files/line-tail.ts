import { openFileTail } from './file-tail.js';
import type { OpenFile } from '../index.js';

/** Reads a file line by line, even while it grows. A last line without a newline is held back. */
export interface LineTail {
  /** Returns the next complete line; undefined if none is available yet. */
  next(): Promise<FileLine | undefined>;
  /** Whether the file existed when it was last read. */
  readonly exists: boolean;
  /** Number of bytes after the last newline: a line that is still being written, or was cut off by a crash. */
  unfinishedBytes(): number;
  close(): Promise<void>;
}

/** A complete line, numbered from where reading started; `text` is undefined if it is longer than the limit. */
export interface FileLine {
  readonly number: number;
  readonly offset: number;
  readonly text: string | undefined;
}

const NEWLINE = 0x0a;

/**
 * Opens a {@link LineTail}. Memory is bounded by `maxBytes`: the text of a longer line is dropped. Starts at `from`,
 * which must be the start of a line.
 */
export function openLineTail(source: string | OpenFile, maxBytes: number, from = 0): LineTail {
  const file = openFileTail(source, from);
  let block: Uint8Array = new Uint8Array(0);
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;
  let offset = from;

  function append(part: Uint8Array): void {
    length += part.length;
    if (length > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  }

  return {
    get exists() {
      return file.exists;
    },
    async next() {
      for (;;) {
        const end = block.indexOf(NEWLINE);
        if (end >= 0) {
          append(block.subarray(0, end));
          block = block.subarray(end + 1);
          number += 1;
          const line = { number, offset, text: length > maxBytes ? undefined : Buffer.concat(parts).toString('utf8') };
          offset += length + 1;
          parts = [];
          length = 0;
          return line;
        }
        append(block);
        block = (await file.read(Number.MAX_SAFE_INTEGER)) ?? new Uint8Array(0);
        if (block.length === 0) return undefined;
      }
    },
    unfinishedBytes: () => length,
    close: async () => file.close(),
  };
}
