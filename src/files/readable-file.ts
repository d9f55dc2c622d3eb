import type { ReadableFile } from '../base/index.js';

/** Reads exactly these bytes; fewer if the file ends earlier. */
export async function readSpan(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

const CHUNK = 256 * 1024;

/** The bytes of a file from one position up to another, piece by piece; ends early where the file does. */
export async function* readChunks(
  file: ReadableFile,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Uint8Array, void> {
  for (let at = from; at < to;) {
    // A new buffer each time: the caller may still use the last one.
    const chunk = new Uint8Array(Math.min(CHUNK, to - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    at += bytesRead;
  }
}
