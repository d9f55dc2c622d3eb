/** The maximum depth of a value: deeper values would break consumers with a recursive serializer. */
export const MAX_DEPTH = 1000;

/** The result of a scan. `end` is the position after the value. */
type Scan =
  | { readonly kind: 'complete'; readonly end: number }
  | { readonly kind: 'open' }
  | { readonly kind: 'broken'; readonly tooDeep: boolean };

const OPEN: Scan = { kind: 'open' };
const BROKEN: Scan = { kind: 'broken', tooDeep: false };
const TOO_DEEP: Scan = { kind: 'broken', tooDeep: true };

/** The syntax expected next, outside of strings. */
type Expect = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const ESCAPED = '"\\/bfnrtu';

/**
 * Scans one JSON object or array over any number of lines. It stops at the first character that makes the value
 * invalid, so an incomplete value does not swallow the lines after it. Strings can contain line breaks. Numbers and
 * literals are only distinguished from punctuation; the parser checks them.
 */
export class JsonScanner {
  readonly #containers: number[] = [];
  #expect: Expect = 'value';
  /** Whether the scan stopped inside a string: the next line would continue it. */
  inString = false;
  #isKey = false;
  #afterBackslash = false;
  #inWord = false;

  /** Continues the scan from a position. Call it again with the next text while the result is `open`. */
  scan(text: string, start: number): Scan {
    for (let index = start; index < text.length; index++) {
      const char = text.charCodeAt(index);
      if (this.inString) {
        if (!this.#scanString(char, text, index)) return BROKEN;
        continue;
      }
      const step = this.#scanStructure(char);
      if (step === 'broken') return BROKEN;
      if (step === 'complete') return { kind: 'complete', end: index + 1 };
      if (this.#containers.length > MAX_DEPTH) return TOO_DEEP;
    }
    return OPEN;
  }

  #scanString(char: number, text: string, index: number): boolean {
    if (this.#afterBackslash) {
      this.#afterBackslash = false;
      return ESCAPED.includes(text.charAt(index));
    }
    if (char === BACKSLASH) this.#afterBackslash = true;
    else if (char === QUOTE) {
      this.inString = false;
      this.#expect = this.#isKey ? 'colon' : 'comma-or-end';
    }
    return true;
  }

  #scanStructure(char: number): 'open' | 'complete' | 'broken' {
    if (char === 0x20 || char === LINE_FEED || char === 0x0d || char === 0x09) {
      this.#inWord = false;
      return 'open';
    }
    const expectsValue = this.#expect === 'value' || this.#expect === 'value-or-end';
    switch (char) {
      case QUOTE:
        this.#inWord = false;
        if (this.#containers.length === 0) return 'broken';
        if (!expectsValue && this.#expect !== 'key' && this.#expect !== 'key-or-end') return 'broken';
        this.inString = true;
        this.#isKey = !expectsValue;
        return 'open';
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (!expectsValue) return 'broken';
        this.#containers.push(char);
        this.#expect = char === OPEN_BRACE ? 'key-or-end' : 'value-or-end';
        return 'open';
      case CLOSE_BRACE:
        return this.#close(OPEN_BRACE, 'key-or-end');
      case CLOSE_BRACKET:
        return this.#close(OPEN_BRACKET, 'value-or-end');
      case COLON:
        if (this.#expect !== 'colon') return 'broken';
        this.#expect = 'value';
        return 'open';
      case COMMA:
        this.#inWord = false;
        if (this.#expect !== 'comma-or-end') return 'broken';
        this.#expect = this.#containers.at(-1) === OPEN_BRACE ? 'key' : 'value';
        return 'open';
      default:
        return this.#scanWord(char, expectsValue);
    }
  }

  #scanWord(char: number, expectsValue: boolean): 'open' | 'broken' {
    if (this.#inWord) return isWordPart(char) ? 'open' : 'broken';
    if (!expectsValue || this.#containers.length === 0 || !isWordStart(char)) return 'broken';
    this.#inWord = true;
    this.#expect = 'comma-or-end';
    return 'open';
  }

  #close(opener: number, empty: Expect): 'open' | 'complete' | 'broken' {
    this.#inWord = false;
    if (this.#containers.at(-1) !== opener) return 'broken';
    if (this.#expect !== 'comma-or-end' && this.#expect !== empty) return 'broken';
    this.#containers.pop();
    this.#expect = 'comma-or-end';
    return this.#containers.length === 0 ? 'complete' : 'open';
  }
}

/** A number, or the first letter of `true`, `false`, `null`. */
function isWordStart(char: number): boolean {
  return (char >= 0x30 && char <= 0x39) || char === 0x2d || char === 0x74 || char === 0x66 || char === 0x6e;
}

function isWordPart(char: number): boolean {
  return (char >= 0x30 && char <= 0x39) || (char >= 0x61 && char <= 0x7a) || [0x2b, 0x2d, 0x2e, 0x45].includes(char);
}
