import type { StreamName } from '../protocol/raw-ref.js';
import { createByteCursor } from './byte-cursor.js';
import type { ByteCursor } from './byte-cursor.js';
import type { Line } from './line-splitter.js';
import { createOriginalCursor, stripEscapes } from './terminal-escapes.js';
import type { PlainText } from './terminal-escapes.js';

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
  span(stream: StreamName, start: number, end: number) {
    const encoding = this.isUtf8 ? ('utf-8' as const) : ('binary' as const);
    const from = this.#byteAt(start);
    // An empty piece still owns its line end: position 0 is both its start and its end.
    const to = end >= this.plain.length ? this.#line.to : this.#byteAt(end);
    return { stream, from, to, encoding };
  }

  /** The byte behind the character before a position; the escape sequences in between come after it. */
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
