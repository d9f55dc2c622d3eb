/** Character codes by name, for the places where every character counts. */
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const COMMA = 0x2c;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const BACKTICK = 0x60;

/** White space JSON does not know but texts contain: no-break and zero-width spaces, the byte order mark. */
export const FOREIGN_SPACE = /[\s\u180e\u200b-\u200d\u2060]/;

/** Typographic quotes close any of their kind and the straight one. */
const SINGLE_QUOTES = "'`´‘’＇";
const DOUBLE_QUOTES = '"“”„＂';
const PUNCTUATION = '，,、,：:｛{｝}［[］]【[】]';

/** The quotes that close a string this one opens: a straight one only itself. */
export function closersOf(quote: string): string {
  if (quote === '"' || quote === "'") return quote;
  return SINGLE_QUOTES.includes(quote) ? SINGLE_QUOTES : DOUBLE_QUOTES;
}

export function isQuote(char: string): boolean {
  return char === '"' || char === "'" || /[`´‘’＇“”„＂]/.test(char);
}

/** The ASCII form of full-width structural punctuation; every other character is returned as it is. */
export function asciiPunctuation(char: string): string {
  const index = char.charCodeAt(0) > 0x2fff ? PUNCTUATION.indexOf(char) : -1;
  return index === -1 ? char : PUNCTUATION.charAt(index + 1);
}
