import type { ReadableFile } from '../index.js';

/** Reads `length` bytes from `position`, or fewer if the file ends earlier. */
export async function readSpan(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const buffer = Buffer.allocUnsafe(length);
  let bytesTotal = 0;
  while (bytesTotal < length) {
    const { bytesRead } = await file.read(buffer, bytesTotal, length - bytesTotal, position + bytesTotal);
    if (bytesRead === 0) break;
    bytesTotal += bytesRead;
  }
  return buffer.subarray(0, bytesTotal);
}

const CHUNK_SIZE = 256 * 1024;

/** Reads a file's bytes from one position to another in chunks; ends early if the file does. */
export async function* readChunks(
  file: ReadableFile,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Uint8Array, void> {
  for (let position = from; position < to;) {
    // A new buffer each time: the caller might still be using the last one.
    const chunk = new Uint8Array(Math.min(CHUNK_SIZE, to - position));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    position += bytesRead;
  }
}
