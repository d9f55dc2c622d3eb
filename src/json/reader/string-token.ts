import { isQuote, type QuoteStyle, quoteStyleOf } from './character.js';
import { judgeQuote, type StringSurroundings } from './quote-verdict.js';
import { GrowingText, LOOK_BEHIND, type Source } from './source.js';

/** How far reading a string came: to its end, to the end of the text so far, or to the end of all text. */
export type StringProgress = 'done' | 'more' | 'cut';

/** The letters of JSON's escapes, and what they stand for, in the same order. */
const ESCAPE_LETTERS = '"\\/bfnrt';
const ESCAPED = '"\\/\b\f\n\r\t';
const CODE_ESCAPE = /\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|u\{([\da-fA-F]{1,5}|10[\da-fA-F]{4})\})/y;
const CUT_ESCAPE = /\\(?:u[\da-fA-F]{0,3}|x[\da-fA-F]?|u\{[\da-fA-F]{0,6})?$/y;
/** What escapes an escape once more where quotes are escaped: `\\n`, `\\\"`. */
const ESCAPED_ESCAPE = /\\\\?(?=\\[^])/y;
const LONGEST_ESCAPE = 12;
/** What separates a string without end quote from the next quote, with the filler around it, in which nothing is escaped. */
const SEPARATOR = /(?:\s|\/\*[^*\\]*\*\/)*([,+:]|\n)(?:\s|\/\*[^*\\]*\*\/)*$/;
const SEPARATORS = { root: '+', key: ':', member: ',+\n', item: ',+' } as const;
const KEY_END = /.\s{0,64}(?:[:：=]|$)/y;
/** A quote that opens the next key, item or operand. */
const NEXT_TOKEN = {
  member: /.[^"\n]{0,256}"\s{0,64}:/y,
  item: /.[^",\n]{0,256}"\s{0,64}[,\]]/y,
} as const;
const NEXT_OPERAND = /.[^"\n]{0,256}"\s{0,64}(?:[,}\]]|$)/y;
const NEXT_TOKEN_WINDOW = 512;
/** A quote that closes before any has opened, with what tells. `24" wide` is a measure, `the boys' house` a genitive. */
const END_OF_WORD = /^(?:[\p{L}.!?)](?:[^'’][ "]|. ')|[\p{L}\p{N}.!?)][^'’][,:;.])/u;

/** A quoted string being read: it keeps its place when the text runs out in the middle, even inside an escape. */
export class StringToken {
  /** Offset of the opening quote in the whole. */
  readonly offset: number;
  /** The end quote was missing, and this separator behind the string was already passed. */
  separator = '';
  unescapedSeen = false;
  /** `"x" or "y"`, `"x", y"`: the string seems to have ended before its end, though nothing fits behind it. */
  #endSeen = false;
  readonly #source: Source;
  readonly #style: QuoteStyle;
  readonly #escapedQuotes: boolean;
  #triple = false;
  #controlSeen = false;
  #escapeSeen = false;
  /** Once an unescaped quote was found, brackets opened inside the string must be closed before it may end. */
  #openBrackets = 0;
  /** The decoded content so far. Only ever appended to: reading it would copy it again for every piece. */
  #content = new GrowingText();
  #lastCode = 0;

  /** Starts at the opening quote, or at the backslash before it. */
  constructor(source: Source) {
    const { base, at } = source;
    this.#source = source;
    this.#escapedQuotes = source.char() === '\\';
    const length = this.#escapedQuotes ? 2 : 1;
    const quote = source.char(length - 1);
    this.#style = quoteStyleOf(quote);
    if (this.#escapedQuotes) source.repair('escaped_quotes', at, length);
    if (quote !== '"') source.repair('quote_style', at, length);
    this.offset = base + at;
    source.at += length;
  }

  read(around: StringSurroundings): StringProgress {
    const source = this.#source;
    const { plain, closers } = this.#style;
    for (;;) {
      const length = source.match(plain);
      if (length > 0) this.#take(length, source.text.slice(source.at, source.at + length));
      const char = source.char();
      if (char === '') return source.final ? 'cut' : 'more';
      const progress =
        char === '\\'
          ? this.#takeEscape()
          : closers.includes(char)
            ? this.#takeQuote(char, around)
            : this.#takeControl();
      if (progress !== 'on') return progress;
    }
  }

  /** The content without half of a surrogate pair at its end: fit to be shown before the string is finished. */
  get shown(): string {
    return this.#lastCode >= 0xd800 && this.#lastCode <= 0xdbff ? this.content.slice(0, -1) : this.content;
  }

  get content(): string {
    return this.#content.text;
  }

  /** Its end is a guess, or it is a template literal with a placeholder: code that would make a string. */
  get isDoubtful(): boolean {
    if (this.unescapedSeen && /^"[^"]*$/.test(this.content)) return true;
    return this.#endSeen || (this.#style.closers.includes('`') && this.content.includes('${'));
  }

  /** Ends the string at a line break before which its end quote is missing. */
  endAtLine(lineEnd: number): void {
    const source = this.#source;
    this.#cut(source.text.length - lineEnd);
    source.repair('missing_quote', lineEnd);
    source.at = lineEnd;
  }

  #takeControl(): 'on' {
    if (!this.#controlSeen) this.#source.repair('control_character');
    this.#controlSeen = true;
    return this.#take(1);
  }

  #takeQuote(quote: string, around: StringSurroundings): StringProgress | 'on' {
    const source = this.#source;
    const { text, at } = source;
    const isKey = around.role === 'key';
    if (this.#triple) {
      if (!source.has(3)) return 'more';
      return text.startsWith(quote.repeat(3), at) ? this.#end(3) : this.#take(1);
    }
    if (this.content === '' && this.#style.closers === quote) {
      if (!source.has(2)) return 'more';
      // Three quotes in a row, as Python writes long strings.
      if (text[at + 1] === quote && text[at - 1] === quote) {
        source.repair('quote_style', at - 1, 3);
        this.#triple = true;
        source.at += 2;
        return 'on';
      }
    }
    const verdict = judgeQuote(text, at + 1, source.final, around);
    if (verdict === 'unknown') return 'more';
    if (this.#openBrackets === 0) {
      const ends = verdict === 'ends';
      const missing = ends && !isKey ? 'on' : this.#endBefore(around);
      if (missing !== 'on') return missing;
      if (ends) {
        // A key with a colon inside has swallowed its value, if it was mended or no other colon follows.
        const swallows = isKey && this.content.includes(':');
        this.#endSeen ||= swallows && (this.unescapedSeen || source.match(KEY_END) === -1);
        return this.#end(1);
      }
    }
    if (!this.unescapedSeen) {
      source.repair('unescaped_quote');
      this.#endSeen = END_OF_WORD.test(text.slice(at - 1, at + 3));
      this.unescapedSeen = true;
      this.#countBrackets(this.content);
    }
    return this.#take(1);
  }

  /** `"a": "text, "b": 1`: where this quote opens the next key, item or operand, the end of this string is missing. */
  #endBefore({ role }: StringSurroundings): 'done' | 'more' | 'on' {
    const source = this.#source;
    const { text, at } = source;
    if (/[^\s,+:/]/.test(text.charAt(at - 1))) return 'on';
    const [filler = '', separator = ''] = SEPARATOR.exec(text.slice(Math.max(0, at - LOOK_BEHIND), at)) ?? [];
    if (separator === '' || !SEPARATORS[role].includes(separator) || source.match(KEY_END) !== -1) return 'on';
    const next = separator === '+' || role === 'key' || role === 'root' ? NEXT_OPERAND : NEXT_TOKEN[role];
    const length = source.match(next);
    // More may come behind the end of the text so far.
    const isOpen = length === -1 ? text.length - at <= NEXT_TOKEN_WINDOW : at + length === text.length;
    if (isOpen && !source.final) return 'more';
    if (length === -1) return 'on';
    source.repair('missing_quote');
    this.separator = separator.trim();
    this.#cut(filler.length);
    return 'done';
  }

  #end(length: number): 'done' {
    this.#content.join();
    this.#source.at += length;
    return 'done';
  }

  /** Takes back what was read behind the end. */
  #cut(length: number): void {
    // A quote of the other kind was meant to end it; lines of structure are no part of it.
    const content = this.content
      .slice(0, -length)
      .trimEnd()
      .replace(/^([^'"]*)['"]$/, '$1');
    this.#endSeen ||= /\n\s*["'}\]]/.test(content);
    this.#content = new GrowingText();
    this.#content.append(content);
  }

  #takeEscape(): StringProgress | 'on' {
    const source = this.#source;
    if (source.match(CUT_ESCAPE) !== -1 || (this.#escapedQuotes && !source.has(LONGEST_ESCAPE))) {
      if (source.final) source.at = source.text.length;
      return source.final ? 'cut' : 'more';
    }
    if (this.#escapedQuotes) {
      if (this.#style.closers.includes(source.char(1))) return this.#end(2);
      source.at += Math.max(0, source.match(ESCAPED_ESCAPE));
    }
    const { text, at } = source;
    const next = source.char(1);
    // Where other backslashes were meant as such, `\frac` and `\beta` hold no form feed and no backspace either.
    const isWord = this.#escapeSeen && /^[bf]\p{L}/u.test(text.slice(at + 1, at + 4));
    const simple = isWord ? -1 : ESCAPE_LETTERS.indexOf(next);
    if (simple !== -1) return this.#take(2, ESCAPED.charAt(simple));
    CODE_ESCAPE.lastIndex = at;
    const [escape = '', ...codes] = CODE_ESCAPE.exec(text) ?? [];
    if (codes[0] === undefined && !this.#escapeSeen) {
      source.repair('invalid_escape');
      this.#escapeSeen = true;
    }
    if (escape !== '') return this.#take(escape.length, String.fromCodePoint(Number(`0x${codes.join('')}`)));
    // An escaped quote or line break loses its backslash; any other backslash was meant as one: `C:\dir`, `\d+`, `\alpha`.
    return this.#take(2, isQuote(next) || next === '\n' ? next : `\\${next}`);
  }

  #take(length: number, piece = this.#source.char()): 'on' {
    this.#source.at += length;
    this.#content.append(piece);
    this.#lastCode = piece.charCodeAt(piece.length - 1);
    if (this.unescapedSeen) this.#countBrackets(piece);
    return 'on';
  }

  #countBrackets(piece: string): void {
    for (const [bracket] of piece.matchAll(/[[\]{}]/g))
      this.#openBrackets = Math.max(0, this.#openBrackets + (bracket === '[' || bracket === '{' ? 1 : -1));
  }
}
