import type { OpenFile, ReadableFile } from '../index.js';
import { openForReading } from './safe-file.js';

/** Reads a file in chunks, even while it grows or before it exists. */
export interface FileTail {
  /** Offset of the next byte to read. */
  readonly position: number;
  /** Whether the file existed when it was last read. */
  readonly exists: boolean;
  /** Returns the next bytes, at most `max`; undefined if none are available yet. */
  read(max: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** Small enough to bound memory, large enough to keep the number of reads low. */
const BLOCK_SIZE = 256 * 1024;

/** Opens a {@link FileTail}. A file that does not exist yet reads as empty. */
export function openFileTail(source: string | OpenFile): FileTail {
  const openSource: OpenFile = typeof source === 'string' ? async () => openForReading(source) : source;
  let handle: ReadableFile | undefined;
  let position = 0;
  let buffered = new Uint8Array(0);

  return {
    get position() {
      return position;
    },
    get exists() {
      return handle !== undefined;
    },
    async read(max) {
      if (buffered.length === 0) {
        handle ??= await openSource();
        if (handle === undefined) return undefined;
        // A new block each time: the caller might still be using the last one.
        const block = new Uint8Array(BLOCK_SIZE);
        const { bytesRead } = await handle.read(block, 0, BLOCK_SIZE, position);
        if (bytesRead === 0) return undefined;
        buffered = block.subarray(0, bytesRead);
      }
      const chunk = buffered.subarray(0, max);
      buffered = buffered.subarray(chunk.length);
      position += chunk.length;
      return chunk;
    },
    async close() {
      await handle?.close();
      handle = undefined;
    },
  };
}

const NEWLINE = 0x0a;

/**
 * Reads a file line by line, even while it grows. A last line without a newline is held back. Memory is bounded by
 * `maxBytes`: the text of a longer line is dropped.
 */
export function openLineTail(source: string | OpenFile, maxBytes: number) {
  const file = openFileTail(source);
  let block: Uint8Array = new Uint8Array(0);
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;

  function append(part: Uint8Array): void {
    length += part.length;
    if (length > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  }

  return {
    /** Whether the file existed when it was last read. */
    get exists(): boolean {
      return file.exists;
    },
    /** Returns the next complete line, numbered from 1, without its text if it is too long; undefined if there is none yet. */
    async next(): Promise<{ readonly number: number; readonly text: string | undefined } | undefined> {
      for (;;) {
        const end = block.indexOf(NEWLINE);
        if (end >= 0) {
          append(block.subarray(0, end));
          block = block.subarray(end + 1);
          number += 1;
          const line = { number, text: length > maxBytes ? undefined : Buffer.concat(parts).toString('utf8') };
          parts = [];
          length = 0;
          return line;
        }
        append(block);
        block = (await file.read(Number.MAX_SAFE_INTEGER)) ?? new Uint8Array(0);
        if (block.length === 0) return undefined;
      }
    },
    /** Number of bytes after the last newline: a line that is still being written, or was cut off by a crash. */
    unfinishedBytes: (): number => length,
    close: async (): Promise<void> => file.close(),
  };
}
