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
export const ASTERISK = 0x2a;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const SLASH = 0x2f;
export const DIGIT_ZERO = 0x30;
export const DIGIT_NINE = 0x39;
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
const ELLIPSIS = 0x2026;

/** White space of the JSON grammar. */
export function isJsonSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
}

/** White space JSON does not know but texts contain: no-break and zero-width spaces, the byte order mark. */
export function isForeignSpace(code: number): boolean {
  return (
    code === 0x0b ||
    code === 0x0c ||
    code === 0xa0 ||
    code === 0x180e ||
    (code >= 0x2000 && code <= 0x200d) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x2060 ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

export function isDigit(code: number): boolean {
  return code >= DIGIT_ZERO && code <= DIGIT_NINE;
}

/** Letters, digits, `_`, `$` and every non-ASCII character: what words and keys are made of. */
export function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    isDigit(code) ||
    code === 0x5f ||
    code === 0x24 ||
    (code > 0x7f && !isForeignSpace(code) && !isQuote(code) && asciiPunctuation(code) === code && code !== ELLIPSIS)
  );
}

/**
 * The character that closes a string opened with `code`, as a class: straight quotes close only themselves,
 * typographic ones any of their kind. 0 if `code` opens no string.
 */
export function quoteClass(code: number): 0 | 1 | 2 | 3 | 4 {
  if (code === DOUBLE_QUOTE) return 1;
  if (code === SINGLE_QUOTE) return 2;
  if (code === BACKTICK || code === 0xb4 || code === 0x2018 || code === 0x2019 || code === 0xff07) return 3;
  if (code === 0x201c || code === 0x201d || code === 0x201e || code === 0xff02) return 4;
  return 0;
}

/** Whether `code` closes a string of the class given by {@link quoteClass}. */
export function closesQuoteClass(opened: 0 | 1 | 2 | 3 | 4, code: number): boolean {
  const found = quoteClass(code);
  if (opened === 3) return found === 3 || found === 2;
  if (opened === 4) return found === 4 || found === 1;
  return found === opened;
}

export function isQuote(code: number): boolean {
  return quoteClass(code) !== 0;
}

/** The ASCII form of full-width structural punctuation; every other character is returned as it is. */
export function asciiPunctuation(code: number): number {
  switch (code) {
    case 0xff0c:
    case 0x3001:
      return COMMA;
    case 0xff1a:
      return COLON;
    case 0xff5b:
      return OPEN_BRACE;
    case 0xff5d:
      return CLOSE_BRACE;
    case 0xff3b:
    case 0x3010:
      return OPEN_BRACKET;
    case 0xff3d:
    case 0x3011:
      return CLOSE_BRACKET;
    default:
      return code;
  }
}

/** Length of `...` or `…` at `at`, 0 if there is none. */
export function ellipsisLength(text: string, at: number): number {
  if (text.charCodeAt(at) === ELLIPSIS) return 1;
  if (!text.startsWith('...', at)) return 0;
  let length = 3;
  while (text.charCodeAt(at + length) === DOT) length++;
  return length;
}

/** Whether a comment starts at `at`: `//`, `/*` or `# `. */
export function startsComment(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === HASH) return true;
  if (code !== SLASH) return false;
  const next = text.charCodeAt(at + 1);
  return next === SLASH || next === ASTERISK;
}
