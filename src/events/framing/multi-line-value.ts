import type { JsonScanner } from './json-scanner.js';
import { readJson } from './lenient-json.js';
import type { LinePiece } from './line-piece.js';
import { MAX_LINE_BYTES } from './line-splitter.js';

/**
 * A string that goes on over more lines than this is taken for a torn one. Until then everything behind a torn
 * string that has no quote in it waits.
 */
const MAX_STRING_LINES = 10_000;

/** A JSON value that began on one line and goes on on the next ones. */
export class MultiLineValue {
  readonly #pieces: LinePiece[] = [];
  readonly #valueStart: number;
  readonly #scanner: JsonScanner;
  #bytes: number;
  #stringLines = 0;

  /** The value begins at a position of the first piece, and `scanner` has read that. */
  constructor(first: LinePiece, valueStart: number, scanner: JsonScanner) {
    this.#pieces.push(first);
    this.#valueStart = valueStart;
    this.#bytes = first.bytes;
    this.#scanner = scanner;
  }

  /** The pieces read so far, the first one being where the value began. */
  get pieces(): readonly LinePiece[] {
    return this.#pieces;
  }

  get from(): number {
    return this.#pieces[0]?.from ?? 0;
  }

  /**
   * Reads on. `open`: more is needed. `broken`: this is no value, and the piece was not taken. Otherwise the value,
   * its text, and where in the piece it ends.
   */
  add(piece: LinePiece): 'open' | 'broken' | { value: object; text: string; end: number } {
    this.#bytes += piece.bytes;
    this.#stringLines = this.#scanner.inString ? this.#stringLines + 1 : 0;
    if (this.#bytes > MAX_LINE_BYTES || this.#stringLines > MAX_STRING_LINES) return 'broken';
    if (this.#scanner.scan('\n', 0).kind === 'broken') return 'broken';
    const scan = this.#scanner.scan(piece.plain, 0);
    if (scan.kind === 'broken') return 'broken';
    if (scan.kind === 'open') {
      this.#pieces.push(piece);
      return 'open';
    }
    const lines = this.#pieces.map((line) => line.plain);
    lines.push(piece.plain.slice(0, scan.end));
    const text = lines.join('\n').slice(this.#valueStart);
    const value = readJson(text);
    return value === null ? 'broken' : { value, text, end: scan.end };
  }
}
