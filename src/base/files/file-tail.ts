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

/** Opens a {@link FileTail}, optionally at an offset. A file that does not exist yet reads as empty. */
export function openFileTail(source: string | OpenFile, from = 0): FileTail {
  const open: OpenFile = typeof source === 'string' ? async () => openForReading(source) : source;
  let handle: ReadableFile | undefined;
  let position = from;
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
        handle ??= await open();
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
