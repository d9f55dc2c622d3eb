import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DOUBLE_QUOTE,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../reader/character.js';

/**
 * Walks through a text and knows whether it stands inside a string of a JSON value. Quotes count only inside brackets,
 * so that quotation marks in prose do not. Each character is looked at once, however often the walker is asked.
 */
export class JsonPosition {
  private at = 0;
  private depth = 0;
  private inString = false;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Whether `offset` lies inside a JSON string. Offsets must not go backwards. */
  isInString(offset: number): boolean {
    while (this.at < offset) {
      if (this.depth === 0 && !this.jumpToBracket(offset)) break;
      this.take(this.text.charCodeAt(this.at++));
    }
    return this.inString && this.at <= offset;
  }

  /** Goes on at `offset` without looking at what lies before. */
  skipTo(offset: number): void {
    this.at = Math.max(this.at, offset);
  }

  private take(code: number): void {
    if (this.inString) {
      if (code === BACKSLASH) this.at++;
      else if (code === DOUBLE_QUOTE) this.inString = false;
    } else if (code === DOUBLE_QUOTE) {
      this.inString = this.depth > 0;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.depth++;
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && this.depth > 0) {
      this.depth--;
    }
  }

  /** Outside of all brackets only the next bracket matters. */
  private jumpToBracket(offset: number): boolean {
    const found = nextBracket(this.text, this.at, offset);
    this.at = found === -1 ? offset : found;
    return found !== -1;
  }
}

/** Offset of the first `{` or `[` in the span, -1 if there is none. */
export function nextBracket(text: string, from: number, to: number): number {
  BRACKET.lastIndex = from;
  const found = BRACKET.exec(text);
  return found === null || found.index >= to ? -1 : found.index;
}

const BRACKET = /[[{]/g;
