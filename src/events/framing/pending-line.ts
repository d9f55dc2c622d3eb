import { LONG_LINE_BYTES, decodeLine } from './decode-line.js';
import type { DecodedLine } from './decode-line.js';
import { PendingBytes } from './pending-bytes.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A line whose end has not come yet. A long one is decoded as it comes: then a line of any length is in memory once
 * as text, and once more when its pieces are joined.
 */
export class PendingLine {
  readonly #bytes = new PendingBytes();
  #pieces: string[] = [];
  #decoded = 0;

  get length(): number {
    return this.#decoded + this.#bytes.length;
  }

  /** Copies the bytes: the caller may reuse its buffer. */
  append(bytes: Uint8Array): void {
    this.#bytes.append(bytes);
    if (this.#bytes.length < LONG_LINE_BYTES) return;
    const block = this.#bytes.take();
    // Neither with a streaming decoder nor in large blocks: in Node.js both make two bytes of every ASCII character.
    const end = characterBoundary(block);
    this.#pieces.push(decoder.decode(block.subarray(0, end)));
    this.#decoded += end;
    this.#bytes.append(block.subarray(end));
  }

  /** Hands out the line and starts anew. */
  take(): DecodedLine {
    const rest = this.#bytes.take();
    if (this.#decoded === 0) return decodeLine(rest);
    this.#pieces.push(decoder.decode(rest));
    const text = this.#pieces.join('');
    this.#pieces = [];
    this.#decoded = 0;
    return { text, isUtf8: !text.includes('\uFFFD'), bytes: null };
  }
}

/** Where bytes can be parted without parting a character: before one that has begun and not ended. */
function characterBoundary(bytes: Uint8Array): number {
  for (let index = bytes.length - 1; index >= bytes.length - 3; index--) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0xc0) return index;
    if (byte < 0x80) break;
  }
  return bytes.length;
}
