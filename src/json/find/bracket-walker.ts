const BRACKET = /[[{]/;
const SPECIAL = /["[\]{}]/;
const SPECIAL_IN_STRING = /["\\]/;

/**
 * Scans the input and tracks whether the position is inside brackets, and inside a string within them. Quotes count
 * only inside brackets, because prose contains quotation marks. Each character is scanned once, regardless of the
 * number of queries.
 */
export class BracketWalker {
  #depth = 0;
  #at: number;
  #inString = false;
  readonly #text: string;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.#at = at;
  }

  /** Whether `offset` is inside a JSON string. Offsets must not go backwards. */
  isInString(offset: number): boolean {
    while (this.#step(offset) !== -1);
    return this.#inString;
  }

  /** The number of open brackets at `offset`. */
  depthAt(offset: number): number {
    this.isInString(offset);
    return this.#depth;
  }

  /** Offset after the bracket that closes the next opening bracket, or -1 if it is never closed. */
  findEnd(limit: number): number {
    for (;;) {
      const before = this.#depth;
      const end = this.#step(limit);
      if (end === -1 || (before === 1 && this.#depth === 0)) return end;
    }
  }

  /** Reads up to the next quote or bracket before `limit`; returns the offset after it, or -1. */
  #step(limit: number): number {
    if (this.#at >= limit) return -1;
    const distance = this.#text.slice(this.#at, limit).search(this.#inString ? SPECIAL_IN_STRING : SPECIAL);
    if (distance === -1) {
      this.#at = limit;
      return -1;
    }
    this.#at += distance + 1;
    const special = this.#text.charAt(this.#at - 1);
    if (special === '\\') this.#at++;
    else if (special === '"') this.#inString = !this.#inString && this.#depth > 0;
    else this.#depth = Math.max(0, this.#depth + (BRACKET.test(special) ? 1 : -1));
    return this.#at;
  }
}

/** Offset of the first `{` or `[` in the span, or -1. */
export function findNextBracket(text: string, from: number, to: number): number {
  const distance = text.slice(from, to).search(BRACKET);
  return distance === -1 ? -1 : from + distance;
}
