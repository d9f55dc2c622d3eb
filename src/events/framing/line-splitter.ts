import { judgeLine, LONG_LINE_BYTES, decodeLine } from './decode-line.js';
import type { DecodedLine, Line } from './decode-line.js';

/** Twice the longest line that must be read whole; what is longer comes in pieces of this size. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Lines are decoded together up to this size: decoding them one by one costs more than parsing them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const SUBSTITUTE = '\uFFFD';

/**
 * Splits a stream of bytes into decoded lines. Only whole lines are reported, so the result does not depend on the chunks.
 *
 * @example
 * const splitter = createLineSplitter((line) => console.log(line.text))
 * splitter.push(bytes)
 * splitter.end()
 */
export function createLineSplitter(
  onLine: (line: Line) => void,
  maxLineBytes: number = MAX_LINE_BYTES,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pending = new PendingLine();
  let offset = 0;
  /** Set after a piece of an overlong line was cut off: the rest, up to its line feed, is not a line either. */
  let insideTooLong = false;
  let wasAscii = true;

  /** Whole lines, together no longer than a block or a single one. */
  function emitLines(block: Uint8Array): void {
    // A block ends with a line feed, so both ways give the same; which one is faster depends on the script.
    const text = decoder.decode(block, { stream: !wasAscii });
    const mayBeInvalid = text.includes(SUBSTITUTE);
    // One character a byte: then positions in the text are positions in the bytes.
    wasAscii = text.length === block.length;
    const base = offset;
    offset += block.length;
    let char = 0;
    let byte = 0;
    while (char < text.length) {
      const charEnd = text.indexOf('\n', char);
      const byteEnd = wasAscii ? charEnd : block.indexOf(LINE_FEED, byte);
      const from = base + byte;
      const to = base + byteEnd + 1;
      const line = text.slice(char, charEnd);
      if (mayBeInvalid) onLine({ ...judgeLine(line, block.slice(byte, byteEnd)), from, to, tooLong: false });
      else onLine({ text: line, isUtf8: true, bytes: null, from, to, tooLong: false });
      char = charEnd + 1;
      byte = byteEnd + 1;
    }
  }

  /** Emits the pending text as a line that ends here. */
  function emitPending(lineFeedBytes: number): void {
    const from = offset;
    offset += pending.length + lineFeedBytes;
    onLine({ ...pending.take(), from, to: offset, tooLong: insideTooLong });
  }

  /** Bytes of a line whose end has not come yet. */
  function keep(bytes: Uint8Array): void {
    let rest = bytes;
    while (pending.length + rest.length > maxLineBytes) {
      const head = maxLineBytes - pending.length;
      pending.append(rest.subarray(0, head));
      insideTooLong = true;
      emitPending(0);
      rest = rest.subarray(head);
    }
    if (rest.length > 0) pending.append(rest);
  }

  function endLine(bytes: Uint8Array): void {
    keep(bytes);
    emitPending(1);
    insideTooLong = false;
  }

  return {
    push(bytes) {
      let position = 0;
      if (pending.length > 0 || insideTooLong) {
        const lineFeed = bytes.indexOf(LINE_FEED);
        if (lineFeed < 0) return keep(bytes);
        endLine(bytes.subarray(0, lineFeed));
        position = lineFeed + 1;
      }
      while (position < bytes.length) {
        const reach = position + Math.min(BLOCK_BYTES, maxLineBytes);
        let lineFeed = bytes.lastIndexOf(LINE_FEED, Math.min(reach, bytes.length) - 1);
        if (lineFeed < position) lineFeed = reach < bytes.length ? bytes.indexOf(LINE_FEED, reach) : -1;
        if (lineFeed < 0) return keep(bytes.subarray(position));
        if (lineFeed - position > maxLineBytes) endLine(bytes.subarray(position, lineFeed));
        else emitLines(bytes.subarray(position, lineFeed + 1));
        position = lineFeed + 1;
      }
    },
    end() {
      if (pending.length > 0) emitPending(0);
    },
  };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A line whose end has not arrived yet. A long one is decoded as it arrives: then a line of any length is in memory once as
 * text, and once more when its chunks are joined.
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
    const end = findCharacterBoundary(block);
    this.#pieces.push(decoder.decode(block.subarray(0, end)));
    this.#decoded += end;
    this.#bytes.append(block.subarray(end));
  }

  /** Returns the line and resets. */
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

/** Finds where bytes can be split without splitting a character: before an incomplete one at the end. */
function findCharacterBoundary(bytes: Uint8Array): number {
  for (let index = bytes.length - 1; index >= bytes.length - 3; index--) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0xc0) return index;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

const PENDING_BLOCK_BYTES = 64 * 1024;

/**
 * The bytes of a line whose end has not come yet. Small pushes share blocks, so a stream that comes byte by byte
 * costs no more than one that comes whole; nothing is copied twice before {@link PendingBytes.take}.
 */
class PendingBytes {
  #blocks: Uint8Array[] = [];
  #lastUsed = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies the bytes: the caller may reuse its buffer. */
  append(bytes: Uint8Array): void {
    const last = this.#blocks.at(-1);
    const room = last === undefined ? 0 : last.length - this.#lastUsed;
    const head = Math.min(room, bytes.length);
    if (last !== undefined && head > 0) {
      last.set(bytes.subarray(0, head), this.#lastUsed);
      this.#lastUsed += head;
    }
    const rest = bytes.length - head;
    if (rest > 0) {
      const block = new Uint8Array(Math.max(rest, PENDING_BLOCK_BYTES));
      block.set(bytes.subarray(head));
      this.#blocks.push(block);
      this.#lastUsed = rest;
    }
    this.#length += bytes.length;
  }

  /** Returns everything as one array and resets. */
  take(): Uint8Array {
    const blocks = this.#blocks;
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const [index, block] of blocks.entries()) {
      const used = index === blocks.length - 1 ? block.subarray(0, this.#lastUsed) : block;
      whole.set(used, at);
      at += used.length;
    }
    this.#blocks = [];
    this.#lastUsed = 0;
    this.#length = 0;
    return whole;
  }
}
