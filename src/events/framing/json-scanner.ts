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
type Expect = 'container' | 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** Outside of strings: blanks, a number or literal, a quote or punctuation. */
const TOKEN = /[ \n\r\t]+|[-0-9tfn][-+.0-9Ea-z]*|["{}[\]:,]/y;
/** In a string: its end, or an escape. */
const STRING_MARK = /["\\]/g;
const ESCAPED = '"\\/bfnrtu';

/**
 * Scans one JSON object or array over any number of lines. It stops at the first character that makes the value
 * invalid, so an incomplete value does not swallow the lines after it. Strings can contain line breaks. Numbers and
 * literals are only distinguished from punctuation; the parser checks them.
 */
export class JsonScanner {
  readonly #containers: string[] = [];
  #expect: Expect = 'container';
  /** Whether the scan stopped inside a string: the next line would continue it. */
  inString = false;
  #isKey = false;
  #afterBackslash = false;

  /** Continues the scan from a position. Call it again with the next line, or its line end, while the result is `open`. */
  scan(text: string, start: number): Scan {
    for (let index = start; index < text.length;) {
      if (this.#afterBackslash) {
        if (!ESCAPED.includes(text.charAt(index))) return BROKEN;
        this.#afterBackslash = false;
        index += 1;
      } else if (this.inString) {
        STRING_MARK.lastIndex = index;
        if (!STRING_MARK.test(text)) return OPEN;
        index = STRING_MARK.lastIndex;
        this.#afterBackslash = text[index - 1] === '\\';
        if (this.#afterBackslash) continue;
        this.inString = false;
        this.#expect = this.#isKey ? 'colon' : 'comma-or-end';
      } else {
        TOKEN.lastIndex = index;
        if (!TOKEN.test(text) || !this.#readToken(text.charAt(index))) return BROKEN;
        index = TOKEN.lastIndex;
        if (this.#containers.length === 0) return { kind: 'complete', end: index };
        if (this.#containers.length > MAX_DEPTH) return TOO_DEEP;
      }
    }
    return OPEN;
  }

  /** Reads a token, given its first character; false if it is not expected. */
  #readToken(char: string): boolean {
    const expect = this.#expect;
    const expectsValue = expect === 'value' || expect === 'value-or-end';
    switch (char) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        return true;
      case '"':
        this.inString = true;
        this.#isKey = !expectsValue;
        return expectsValue || expect === 'key' || expect === 'key-or-end';
      case '{':
      case '[':
        this.#containers.push(char);
        this.#expect = char === '{' ? 'key-or-end' : 'value-or-end';
        return expectsValue || expect === 'container';
      case '}':
        this.#expect = 'comma-or-end';
        return this.#containers.pop() === '{' && (expect === 'comma-or-end' || expect === 'key-or-end');
      case ']':
        this.#expect = 'comma-or-end';
        return this.#containers.pop() === '[' && (expect === 'comma-or-end' || expect === 'value-or-end');
      case ':':
        this.#expect = 'value';
        return expect === 'colon';
      case ',':
        this.#expect = this.#containers.at(-1) === '{' ? 'key' : 'value';
        return expect === 'comma-or-end';
      default:
        this.#expect = 'comma-or-end';
        return expectsValue;
    }
  }
}
