import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, DOUBLE_QUOTE, OPEN_BRACE, OPEN_BRACKET } from '../reader/character.js';

/** Offset behind the bracket that closes the one at `start`, strings passed over; -1 if it is never closed. */
export function balancedEnd(text: string, start: number, limit: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === DOUBLE_QUOTE) inString = false;
    } else if (code === DOUBLE_QUOTE) {
      inString = true;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
