import type { CapturedStream } from '../protocol/event-parts.js';
import { createOriginalCursor, stripEscapes } from './terminal-escapes.js';
import type { PlainText } from './terminal-escapes.js';

/** From this length on a line is read whole or not at all: the way back from its characters to its bytes is not kept. */
export const LONG_LINE_BYTES = 512 * 1024;

/** The text of a line, and how it was decoded. */
export interface DecodedLine {
  readonly text: string;
  /** Whether the bytes are UTF-8. A long line that contains the replacement character itself is treated as damaged. */
  readonly isUtf8: boolean;
  /** The bytes, where they are needed to find the way back: a short line that is not UTF-8. */
  readonly bytes: Uint8Array | null;
}

/** A line of a stream; its text is without its line feed, but with a carriage return before that. */
export interface Line extends DecodedLine {
  readonly from: number;
  /** After the line feed. */
  readonly to: number;
  /** The line is a piece of one that is longer than `MAX_LINE_BYTES`. */
  readonly tooLong: boolean;
}

const SUBSTITUTE = '\uFFFD';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** Decodes the bytes of one line. */
export function decodeLine(bytes: Uint8Array): DecodedLine {
  return judgeLine(decoder.decode(bytes), bytes);
}

/** Describes a line whose text is already decoded. */
export function judgeLine(text: string, bytes: Uint8Array): DecodedLine {
  if (!text.includes(SUBSTITUTE)) return { text, isUtf8: true, bytes: null };
  if (bytes.length >= LONG_LINE_BYTES) return { text, isUtf8: false, bytes: null };
  const isValid = isUtf8(bytes);
  return { text, isUtf8: isValid, bytes: isValid ? null : bytes };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A line, or the rest of one, seen as plain text with the way back to its bytes. */
export class LinePiece {
  readonly #line: Line;
  readonly #stripped: PlainText;
  #places: Places | null = null;
  /** Without escape sequences and carriage return at the end. */
  readonly plain: string;
  /** How often the piece was held back for a value that came to nothing. */
  readonly holds: number;

  constructor(line: Line, holds: number) {
    this.#line = line;
    this.#stripped = stripEscapes(line.text);
    const { text } = this.#stripped;
    this.plain = text.endsWith('\r') ? text.slice(0, -1) : text;
    this.holds = holds;
  }

  get from(): number {
    return this.#line.from;
  }

  get isUtf8(): boolean {
    return this.#line.isUtf8;
  }

  get bytes(): number {
    return this.#line.to - this.#line.from;
  }

  /** The place of a frame that reaches from one position of the plain text to another; positions never decrease. */
  span(stream: CapturedStream, start: number, end: number) {
    const encoding = this.isUtf8 ? ('utf-8' as const) : ('binary' as const);
    const from = this.#byteAt(start);
    // An empty piece still owns its line end: position 0 is both its start and its end.
    const to = end >= this.plain.length ? this.#line.to : this.#byteAt(end);
    return { stream, from, to, encoding };
  }

  /** Offset of the byte that follows the character before a position; escape sequences in between come later. */
  #byteAt(position: number): number {
    return position <= 0 ? this.#line.from : this.#line.from + this.#walk().bytes.byteAt(this.#originalAt(position));
  }

  /** The piece from a position on. */
  rest(position: number): LinePiece {
    if (position <= 0) return this;
    const from = this.#byteAt(position);
    const bytes = this.#line.bytes?.subarray(from - this.#line.from) ?? null;
    const text = this.#line.text.slice(this.#originalAt(position));
    return new LinePiece({ ...this.#line, text, from, bytes }, this.holds);
  }

  /** The same piece with another number of holds. */
  withHolds(holds: number): LinePiece {
    return new LinePiece(this.#line, holds);
  }

  #originalAt(position: number): number {
    return this.#walk().originals(position - 1) + 1;
  }

  /** Most lines are one frame and need no walk. */
  #walk(): Places {
    this.#places ??= {
      originals: createOriginalCursor(this.#stripped),
      bytes: createByteCursor(this.#line.text, this.#line.bytes),
    };
    return this.#places;
  }
}

/** The way from positions of the plain text to the original, and on to its bytes. */
interface Places {
  readonly originals: (position: number) => number;
  readonly bytes: ByteCursor;
}

/**
 * Walks along a decoded line and knows the byte of each position. Positions must not decrease, so a line with a
 * million values costs one walk.
 */
interface ByteCursor {
  /** How many bytes stand before a position. */
  byteAt(position: number): number;
}

/**
 * `invalid` are the line's bytes where the decoder had to substitute some. There the ASCII characters, which never
 * take part in a substitution, are counted on both sides: exact if one of them stands before or at the position.
 */
function createByteCursor(text: string, invalid: Uint8Array | null): ByteCursor {
  return invalid === null ? createUtf8Cursor(text) : createCountingCursor(text, invalid);
}

function createUtf8Cursor(text: string): ByteCursor {
  let index = 0;
  let bytes = 0;
  return {
    byteAt(position) {
      for (; index < position; index++) {
        const unit = text.charCodeAt(index);
        // A surrogate is half of a four-byte character.
        const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
        bytes += unit < 0x80 ? 1 : unit < 0x800 || isSurrogate ? 2 : 3;
      }
      return bytes;
    },
  };
}

function createCountingCursor(text: string, bytes: Uint8Array): ByteCursor {
  let index = 0;
  let byte = 0;
  /** ASCII characters seen in the text and not yet in the bytes. */
  let ahead = 0;
  return {
    byteAt(position) {
      for (; index < position; index++) if (text.charCodeAt(index) < 0x80) ahead++;
      for (; ahead > 0 && byte < bytes.length; byte++) if ((bytes[byte] ?? 0) < 0x80) ahead--;
      const isAfterAscii = position > 0 && text.charCodeAt(position - 1) < 0x80;
      if (isAfterAscii) return byte;
      while (byte < bytes.length && (bytes[byte] ?? 0) >= 0x80) byte++;
      return byte;
    },
  };
}
