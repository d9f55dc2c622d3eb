import type { CapturedStream } from '../protocol/event-parts.js';

/** A line of at least this length is read as one frame: its characters are not mapped to its bytes. */
export const LONG_LINE_BYTES = 512 * 1024;

export interface DecodedLine {
  readonly text: string;
  /** Whether the bytes are UTF-8. A long line that contains the replacement character itself is treated as damaged. */
  readonly isUtf8: boolean;
  /** The bytes of a short line that is not UTF-8: they are needed to map its characters to bytes. */
  readonly bytes: Uint8Array | null;
}

/** A line of a stream; its text excludes the line feed, but includes a carriage return before it. */
export interface Line extends DecodedLine {
  readonly from: number;
  /** After the line feed. */
  readonly to: number;
  /** Whether this is a fragment of a line longer than `MAX_LINE_BYTES`. */
  readonly tooLong: boolean;
}

const REPLACEMENT_CHARACTER = '\uFFFD';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

export function decodeLine(bytes: Uint8Array): DecodedLine {
  return describeLine(decoder.decode(bytes), bytes);
}

export function describeLine(text: string, bytes: Uint8Array): DecodedLine {
  if (!text.includes(REPLACEMENT_CHARACTER)) return { text, isUtf8: true, bytes: null };
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

/** A line, or the rest of a line, as plain text that can be mapped to its bytes. */
export class LineFragment {
  readonly #line: Line;
  readonly #stripped: PlainText;
  #cursorPair: Cursors | null = null;
  /** The text without escape sequences and trailing carriage return. */
  readonly plain: string;
  /** How many times this fragment was held back for a value that turned out to be invalid. */
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

  /** Returns the byte range of a frame between two positions in the plain text; positions must not decrease. */
  span(stream: CapturedStream, start: number, end: number) {
    const encoding = this.isUtf8 ? ('utf-8' as const) : ('binary' as const);
    const from = this.#byteAt(start);
    // An empty fragment still includes its line end: position 0 is both its start and its end.
    const to = end >= this.plain.length ? this.#line.to : this.#byteAt(end);
    return { stream, from, to, encoding };
  }

  /** Returns the offset just after the character before a position. Escape sequences there belong to the next frame. */
  #byteAt(position: number): number {
    return position <= 0 ? this.#line.from : this.#line.from + this.#cursors().bytes(this.#originalAt(position));
  }

  rest(position: number): LineFragment {
    if (position <= 0) return this;
    const from = this.#byteAt(position);
    const bytes = this.#line.bytes?.subarray(from - this.#line.from) ?? null;
    const text = this.#line.text.slice(this.#originalAt(position));
    return new LineFragment({ ...this.#line, text, from, bytes }, this.holds);
  }

  withHolds(holds: number): LineFragment {
    return new LineFragment(this.#line, holds);
  }

  #originalAt(position: number): number {
    return this.#cursors().originals(position - 1) + 1;
  }

  /** Created lazily: most lines are one frame. */
  #cursors(): Cursors {
    this.#cursorPair ??= {
      originals: createOriginalCursor(this.#stripped),
      bytes:
        this.#line.bytes === null
          ? createUtf8Cursor(this.#line.text)
          : createCountingCursor(this.#line.text, this.#line.bytes),
    };
    return this.#cursorPair;
  }
}

/** Maps positions in the plain text to the original text, and from there to bytes. */
interface Cursors {
  readonly originals: Cursor;
  readonly bytes: Cursor;
}

/** Maps positions, which must not decrease. */
type Cursor = (position: number) => number;

/** Counts the bytes before a position in a line that is UTF-8. */
function createUtf8Cursor(text: string): Cursor {
  let index = 0;
  let bytes = 0;
  return (position) => {
    if (position > index) bytes += encoder.encode(text.slice(index, position)).length;
    index = Math.max(index, position);
    return bytes;
  };
}

/**
 * Counts the bytes before a position in a line that is not UTF-8. ASCII characters, which the decoder never replaces, are
 * counted in the text and in the bytes: the result is exact if one is directly before or at the position.
 */
function createCountingCursor(text: string, bytes: Uint8Array): Cursor {
  let index = 0;
  let byte = 0;
  /** The number of ASCII characters found in the text but not yet in the bytes. */
  let pendingAscii = 0;
  return (position) => {
    for (; index < position; index++) if (text.charCodeAt(index) < 0x80) pendingAscii++;
    for (; pendingAscii > 0 && byte < bytes.length; byte++) if ((bytes[byte] ?? 0) < 0x80) pendingAscii--;
    const isAfterAscii = position > 0 && text.charCodeAt(position - 1) < 0x80;
    if (isAfterAscii) return byte;
    while (byte < bytes.length && (bytes[byte] ?? 0) >= 0x80) byte++;
    return byte;
  };
}

/** Text without its escape sequences, and where they were in the original. */
interface PlainText {
  readonly text: string;
  /** The original position and the length of each removed sequence, in order. */
  readonly removed: readonly (readonly [position: number, length: number])[];
}

/*
 * CSI, OSC (title, links), DCS and similar sequences, then two-byte sequences. Only the first two characters of an
 * unterminated sequence are removed, so the JSON after it is kept.
 */
const ESCAPES = new RegExp(
  [
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)`,
    String.raw`\u001b[PX^_][^\u001b]*\u001b\\`,
    String.raw`\u001b[ -/]*[0-~]?`,
    String.raw`\u009b[0-?]*[ -/]*[@-~]`,
  ].join('|'),
  'g',
);

/**
 * Removes terminal escape sequences from a string.
 *
 * @example
 * stripEscapes('\u001b[32mgreen\u001b[0m').text // 'green'
 */
export function stripEscapes(text: string): PlainText {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return { text, removed: [] };
  const removed: (readonly [number, number])[] = [];
  const plain = text.replace(ESCAPES, (sequence: string, position: number) => {
    removed.push([position, sequence.length]);
    return '';
  });
  return { text: plain, removed };
}

/** Maps positions in the plain text to the original. */
export function createOriginalCursor({ removed }: PlainText): Cursor {
  let shift = 0;
  let next = 0;
  return (position) => {
    for (;;) {
      const sequence = removed[next];
      if (sequence === undefined || sequence[0] > position + shift) return position + shift;
      shift += sequence[1];
      next++;
    }
  };
}
