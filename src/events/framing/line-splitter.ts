import { describeLine, LONG_LINE_BYTES, decodeLine, type DecodedLine, type Line } from './decode-line.js';

/** The maximum length of a line, twice the required length; a longer line is split into fragments of this size. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** A last line of at least this length without the end of a JSON value was cut by the limit on lines. */
const CUT_LINE_BYTES = 16 * 1024 * 1024;

/** Lines are decoded in blocks of up to this size: decoding them one by one costs more than parsing them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const REPLACEMENT_CHARACTER = '\uFFFD';

/** Splits bytes into decoded lines, which are emitted when they are complete, however they arrive. */
export function createLineSplitter(
  onLine: (line: Line) => void,
  maxLineBytes: number = MAX_LINE_BYTES,
): { push(bytes: Uint8Array): void; end(): void } {
  const blockDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pending = new PendingLine();
  let offset = 0;
  /** Whether a fragment of an overlong line was emitted; its rest is not a complete line either. */
  let isInsideLongLine = false;
  let wasAscii = true;

  /** Emits complete lines: a block of them, or a single longer one. */
  function emitLines(block: Uint8Array): void {
    // A block ends with a line feed, so both modes return the same text; which is faster depends on the content.
    const text = blockDecoder.decode(block, { stream: !wasAscii });
    const mayBeInvalid = text.includes(REPLACEMENT_CHARACTER);
    // With one character per byte, positions in the text are positions in the bytes.
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
      if (mayBeInvalid) onLine({ ...describeLine(line, block.slice(byte, byteEnd)), from, to, tooLong: false });
      else onLine({ text: line, isUtf8: true, bytes: null, from, to, tooLong: false });
      char = charEnd + 1;
      byte = byteEnd + 1;
    }
  }

  /** Emits the pending text as a line that ends here. */
  function emitPending(lineFeedBytes: number): void {
    const from = offset;
    offset += pending.length + lineFeedBytes;
    const mayBeCut = lineFeedBytes === 0 && pending.length >= CUT_LINE_BYTES;
    const line = pending.take();
    onLine({
      ...line,
      from,
      to: offset,
      tooLong: isInsideLongLine || (mayBeCut && !/[}\]]\s*$/.test(line.text.slice(-100))),
    });
  }

  /** Stores bytes of a line whose end has not arrived yet. */
  function store(bytes: Uint8Array): void {
    let rest = bytes;
    while (pending.length + rest.length > maxLineBytes) {
      const head = maxLineBytes - pending.length;
      pending.append(rest.subarray(0, head));
      isInsideLongLine = true;
      emitPending(0);
      rest = rest.subarray(head);
    }
    if (rest.length > 0) pending.append(rest);
  }

  function endLine(bytes: Uint8Array): void {
    store(bytes);
    emitPending(1);
    isInsideLongLine = false;
  }

  return {
    push(bytes) {
      let position = 0;
      if (pending.length > 0 || isInsideLongLine) {
        const lineFeed = bytes.indexOf(LINE_FEED);
        if (lineFeed < 0) return store(bytes);
        endLine(bytes.subarray(0, lineFeed));
        position = lineFeed + 1;
      }
      while (position < bytes.length) {
        const blockEnd = position + Math.min(BLOCK_BYTES, maxLineBytes);
        let lineFeed = bytes.lastIndexOf(LINE_FEED, Math.min(blockEnd, bytes.length) - 1);
        if (lineFeed < position) lineFeed = blockEnd < bytes.length ? bytes.indexOf(LINE_FEED, blockEnd) : -1;
        if (lineFeed < 0) return store(bytes.subarray(position));
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

const MIN_BUFFER_BYTES = 64 * 1024;

/**
 * A line whose end has not arrived yet. Its bytes are collected in a buffer that grows, so small chunks cost no more than
 * large ones; the text of a long line is decoded as it arrives, so it is held in memory only once.
 */
export class PendingLine {
  #buffer = new Uint8Array(0);
  #used = 0;
  #chunks: string[] = [];
  #decoded = 0;

  get length(): number {
    return this.#decoded + this.#used;
  }

  /** Copies the bytes, because the caller can reuse its buffer. */
  append(bytes: Uint8Array): void {
    const needed = this.#used + bytes.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(MIN_BUFFER_BYTES, needed, Math.min(2 * this.#used, LONG_LINE_BYTES)));
      grown.set(this.#buffer.subarray(0, this.#used));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#used);
    this.#used = needed;
    if (needed < LONG_LINE_BYTES) return;
    const block = this.#takeBytes();
    // A streaming decoder and large blocks are avoided: in Node.js both use two bytes for every ASCII character.
    const end = findCharacterBoundary(block);
    this.#chunks.push(decoder.decode(block.subarray(0, end)));
    this.#decoded += end;
    this.append(block.subarray(end));
  }

  take(): DecodedLine {
    const rest = this.#takeBytes();
    if (this.#decoded === 0) return decodeLine(rest);
    this.#chunks.push(decoder.decode(rest));
    const text = this.#chunks.join('');
    this.#chunks = [];
    this.#decoded = 0;
    return { text, isUtf8: !text.includes(REPLACEMENT_CHARACTER), bytes: null };
  }

  #takeBytes(): Uint8Array {
    // Copied, because a line that is not UTF-8 keeps its bytes, and must not keep the whole buffer.
    const taken = this.#buffer.slice(0, this.#used);
    this.#buffer = new Uint8Array(0);
    this.#used = 0;
    return taken;
  }
}

/** Returns the position before an incomplete character at the end, where the bytes can be split. */
function findCharacterBoundary(bytes: Uint8Array): number {
  for (let index = bytes.length - 1; index >= bytes.length - 3; index--) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0xc0) return index;
    if (byte < 0x80) break;
  }
  return bytes.length;
}
