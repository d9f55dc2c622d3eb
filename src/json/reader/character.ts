import { MAX_LOOKAHEAD } from '../bounds.js';

/** Control characters, for use in a character class. */
export const CONTROL = '\\0-\\x1f';

/** A quoting style: the quotes that end a string, and a pattern for everything up to the next special character. */
export interface QuoteStyle {
  readonly closers: string;
  readonly plain: RegExp;
  /** Enough of the rest of the string to distinguish a path or a formula from prose. */
  readonly rest: RegExp;
}

// Minifiers escape these characters in strings, but not in patterns.
const SINGLE_QUOTES = /'`´‘’＇/.source;
const DOUBLE_QUOTES = /"“”„＂/.source;
const CORNER_QUOTES = /「」/.source;
const GUILLEMETS = /«»/.source;
const STRAIGHT = createQuoteStyle('"');
/** A straight quote is closed only by itself, a typographic quote by any of its kind or the straight one. */
const QUOTES = `${SINGLE_QUOTES}${DOUBLE_QUOTES}${CORNER_QUOTES}${GUILLEMETS}`;
const QUOTE_STYLES = [
  STRAIGHT,
  createQuoteStyle("'"),
  createQuoteStyle(SINGLE_QUOTES),
  createQuoteStyle(DOUBLE_QUOTES),
  createQuoteStyle(CORNER_QUOTES),
  createQuoteStyle(GUILLEMETS),
];
const PUNCTUATION = '，,、,：:｛{｝}［[］]【[】]';

/** Returns the style of a string opened by this quote. */
export function getQuoteStyle(quote: string): QuoteStyle {
  return QUOTE_STYLES.find(({ closers }) => closers.includes(quote)) ?? STRAIGHT;
}

export function isQuote(char: string): boolean {
  return char !== '' && QUOTES.includes(char);
}

/**
 * Index of the next character that is not JSON white space. Compares character codes for speed: it scans most of the
 * input.
 */
export function skipSpace(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

/** The ASCII form of full-width structural punctuation; every other character is returned unchanged. */
export function toAsciiPunctuation(char: string): string {
  const index = char.charCodeAt(0) > 0x2fff ? PUNCTUATION.indexOf(char) : -1;
  return index === -1 ? char : PUNCTUATION.charAt(index + 1);
}

function createQuoteStyle(closers: string): QuoteStyle {
  return {
    closers,
    plain: new RegExp(`[^\\\\${CONTROL}${closers}]*`, 'y'),
    rest: new RegExp(`(?:\\\\[^]|[^\\\\${closers}]){0,${MAX_LOOKAHEAD}}`, 'y'),
  };
}
