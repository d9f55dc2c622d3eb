/** Character codes by name, so that the readers below read as prose. */
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const SINGLE_QUOTE = 0x27;
export const OPEN_PARENTHESIS = 0x28;
export const CLOSE_PARENTHESIS = 0x29;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const DOT = 0x2e;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const EQUALS = 0x3d;
export const GREATER_THAN = 0x3e;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const BACKTICK = 0x60;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const ELLIPSIS = 0x2026;

/** White space JSON does not know but texts contain: no-break and zero-width spaces, the byte order mark. */
export const FOREIGN_SPACE = /[\v\f\u00a0\u180e\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/;

/** How a string was opened; 0 is no quote. */
export type QuoteKind = 0 | 1 | 2 | 3 | 4;

/** Kinds of quotes: straight ones close only themselves, typographic ones any of their kind and the straight one. */
const QUOTES = ['', '"', "'", "'`´‘’＇", '"“”„＂'] as const;
const PUNCTUATION = '，,、,：:｛{｝}［[］]【[】]';

export function quoteKind(code: number): QuoteKind {
  if (code === DOUBLE_QUOTE) return 1;
  if (code === SINGLE_QUOTE) return 2;
  return code < BACKTICK ? 0 : closesQuote(3, code) ? 3 : closesQuote(4, code) ? 4 : 0;
}

/** Whether `code` closes a string that was opened by a quote of this kind. */
export function closesQuote(opened: QuoteKind, code: number): boolean {
  const mayClose = code === DOUBLE_QUOTE || code === SINGLE_QUOTE || code === BACKTICK || code > 0x7f;
  return mayClose && QUOTES[opened].includes(String.fromCharCode(code));
}

export function isQuote(code: number): boolean {
  return quoteKind(code) > 0;
}

/** The ASCII form of full-width structural punctuation; every other character is returned as it is. */
export function asciiPunctuation(code: number): number {
  const index = code > 0x2fff ? PUNCTUATION.indexOf(String.fromCharCode(code)) : -1;
  return index === -1 ? code : PUNCTUATION.charCodeAt(index + 1);
}
