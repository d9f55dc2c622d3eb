import { judgeLine } from './decode-line.js';
import type { DecodedLine } from './decode-line.js';
import { PendingLine } from './pending-line.js';

/** A line as it stands in its stream; its text is without its line feed, but with a carriage return before that. */
export interface Line extends DecodedLine {
  readonly from: number;
  /** After the line feed. */
  readonly to: number;
  /** The line is a piece of one that is longer than {@link MAX_LINE_BYTES}. */
  readonly tooLong: boolean;
}

/** Twice the longest line that must be read whole; what is longer comes in pieces of this size. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Lines are decoded together up to this size: decoding them one by one costs more than parsing them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const SUBSTITUTE = '\uFFFD';

/**
 * Cuts a stream of bytes into decoded lines. The cut of the pushes leaves no trace: only whole lines are told.
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
  /** Set after a piece was cut off an endless line: what follows up to its line feed is no line of its own either. */
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

  /** What is pending, as a line that ends here. */
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
