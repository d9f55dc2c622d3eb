import { PendingBytes } from './pending-bytes.js';

/** A line as it stands in its stream. */
export interface Line {
  /** Without its line feed; a carriage return before that is still there. */
  readonly text: string;
  readonly from: number;
  /** After the line feed. */
  readonly to: number;
  /** The bytes themselves, only where they are not valid UTF-8 and `text` shows substitutes. */
  readonly invalid: Uint8Array | null;
  /** The line is a piece of one that is longer than {@link MAX_LINE_BYTES}. */
  readonly tooLong: boolean;
}

/** Twice the longest line that must be read whole; what is longer comes in pieces of this size. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Lines are decoded together up to this size: decoding them one by one costs more than parsing them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const SUBSTITUTE = '\uFFFD';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/**
 * Cuts a stream of bytes into decoded lines. The cut of the pushes leaves no trace: only whole lines are decoded.
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
  const tail = new PendingBytes();
  let offset = 0;
  /** Set after a piece was cut off an endless line: what follows up to its line feed is no line of its own either. */
  let insideTooLong = false;
  let wasAscii = true;

  function emitLines(block: Uint8Array): void {
    // A block ends with a line feed, so both ways give the same; which one is faster depends on the script.
    const text = decoder.decode(block, { stream: !wasAscii });
    const invalid = text.includes(SUBSTITUTE) && !isUtf8(block);
    // One character a byte: then positions in the text are positions in the bytes.
    const aligned = text.length === block.length;
    wasAscii = aligned;
    const base = offset;
    offset += block.length;
    let char = 0;
    let byte = 0;
    while (char < text.length) {
      const charEnd = text.indexOf('\n', char);
      const byteEnd = aligned ? charEnd : block.indexOf(LINE_FEED, byte);
      emitLine(
        text.slice(char, charEnd),
        base + byte,
        base + byteEnd + 1,
        invalid ? block.subarray(byte, byteEnd) : null,
      );
      char = charEnd + 1;
      byte = byteEnd + 1;
    }
  }

  function emitLine(text: string, from: number, to: number, bytes: Uint8Array | null): void {
    const invalid = bytes !== null && text.includes(SUBSTITUTE) && !isUtf8(bytes) ? bytes : null;
    onLine({ text, from, to, invalid, tooLong: insideTooLong });
    insideTooLong = false;
  }

  function emitUnterminated(bytes: Uint8Array): void {
    const from = offset;
    offset += bytes.length;
    onLine({
      text: decoder.decode(bytes),
      from,
      to: offset,
      invalid: isUtf8(bytes) ? null : bytes,
      tooLong: insideTooLong,
    });
  }

  function keep(bytes: Uint8Array): void {
    let rest = bytes;
    while (tail.length + rest.length > maxLineBytes) {
      const head = maxLineBytes - tail.length;
      tail.append(rest.subarray(0, head));
      insideTooLong = true;
      emitUnterminated(tail.take());
      rest = rest.subarray(head);
    }
    if (rest.length > 0) tail.append(rest);
  }

  return {
    push(bytes) {
      let position = 0;
      if (tail.length > 0) {
        const lineFeed = bytes.indexOf(LINE_FEED);
        if (lineFeed < 0) return keep(bytes);
        keep(bytes.subarray(0, lineFeed));
        tail.append(bytes.subarray(lineFeed, lineFeed + 1));
        emitLines(tail.take());
        position = lineFeed + 1;
      }
      while (position < bytes.length) {
        const reach = position + Math.min(BLOCK_BYTES, maxLineBytes);
        let lineFeed = bytes.lastIndexOf(LINE_FEED, Math.min(reach, bytes.length) - 1);
        if (lineFeed < position) lineFeed = reach < bytes.length ? bytes.indexOf(LINE_FEED, reach) : -1;
        if (lineFeed < 0) return keep(bytes.subarray(position));
        if (lineFeed - position > maxLineBytes) {
          keep(bytes.subarray(position, lineFeed));
          tail.append(bytes.subarray(lineFeed, lineFeed + 1));
          emitLines(tail.take());
        } else {
          emitLines(bytes.subarray(position, lineFeed + 1));
        }
        position = lineFeed + 1;
      }
    },
    end() {
      if (tail.length > 0) emitUnterminated(tail.take());
    },
  };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
