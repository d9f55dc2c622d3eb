import { BACKSLASH, closersOf, isQuote, SPACE } from './character.js';
import { judgeQuote, type StringSurroundings } from './quote-verdict.js';
import { LOOK_BEHIND, type Source } from './source.js';

/** How far reading a string came: to its end, to the end of the text so far, or to the end of all text. */
export type StringProgress = 'done' | 'more' | 'cut';

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const CODE_ESCAPE = /\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|u\{([\da-fA-F]{1,5}|10[\da-fA-F]{4})\})/y;
const CUT_ESCAPE = /\\(?:u[\da-fA-F]{0,3}|x[\da-fA-F]?|u\{[\da-fA-F]{0,6})?$/y;
const SEPARATOR = /([,+:]|\n)(?:\s|\/\*[^*]*\*\/)*$/;
/** What follows a quote that opens the next key, item or operand, by the separator before it. */
const NEXT_TOKEN = {
  member: /[^"\n]{0,256}"\s{0,64}:/y,
  item: /[^",\n]{0,256}"\s{0,64}[,\]]/y,
  operand: /[^"\n]{0,256}"\s{0,64}(?:[,}\]]|$)/y,
} as const;
const NEXT_TOKEN_WINDOW = 512;
/** Small pieces take more memory than their text: beyond this length they are joined. */
const FLATTEN_AT = 16_384;

/** A quoted string being read: it keeps its place when the text runs out in the middle, even inside an escape. */
export class StringToken {
  /** The decoded content so far. Only ever appended to: reading it would copy it again for every piece. */
  content = '';
  /** Offset of the opening quote in the whole. */
  offset = 0;
  /** The end quote was missing, and this separator behind the string was already passed. */
  separator = '';
  unescapedSeen = false;
  /** `"x" or "y"`: the string seems to be an operand in code. */
  operatorSeen = false;
  /** The quotes that may end it. */
  #closers = '';
  #escapedQuotes = false;
  #triple = false;
  #controlSeen = false;
  #escapeSeen = false;
  /** Once an unescaped quote was found, brackets opened inside the string must be closed before it may end. */
  #openBrackets = 0;
  #lastCode = 0;
  /** Length of what was appended since the content was last one piece. */
  #loose = 0;

  /** Starts at the opening quote, or at the backslash before it. */
  open(source: Source): void {
    this.#escapedQuotes = source.char() === '\\';
    const length = this.#escapedQuotes ? 2 : 1;
    const quote = source.char(length - 1);
    this.#closers = closersOf(quote);
    if (this.#escapedQuotes) source.repair('escaped_quotes', source.at, length);
    if (quote !== '"') source.repair('quote_style', source.at, length);
    this.offset = source.base + source.at;
    source.at += length;
    this.content = this.separator = '';
    this.unescapedSeen = this.operatorSeen = this.#triple = this.#controlSeen = this.#escapeSeen = false;
    this.#openBrackets = this.#lastCode = this.#loose = 0;
  }

  read(source: Source, around: StringSurroundings): StringProgress {
    const { text } = source;
    // Straight quotes close only themselves: comparing one code is all most strings need.
    const closers = this.#closers;
    const closer = closers.length === 1 ? closers.charCodeAt(0) : -1;
    for (;;) {
      let at = source.at;
      let code = 0;
      for (; at < text.length; at++) {
        code = text.charCodeAt(at);
        if (code < SPACE || code === BACKSLASH || code === closer) break;
        if (closer === -1 && closers.includes(text.charAt(at))) break;
      }
      if (at > source.at) this.#append(text.slice(source.at, at));
      source.at = at;
      if (at === text.length) return source.final ? 'cut' : 'more';
      const progress =
        code < SPACE
          ? this.#takeControl(source)
          : code === BACKSLASH
            ? this.#takeEscape(source)
            : this.#takeQuote(source, around);
      if (progress !== 'on') return progress;
    }
  }

  /** The content without half of a surrogate pair at its end: fit to be shown before the string is finished. */
  get shown(): string {
    return this.#lastCode >= 0xd800 && this.#lastCode <= 0xdbff ? this.content.slice(0, -1) : this.content;
  }

  /** A template literal with a placeholder: code that would make a string. */
  get isTemplate(): boolean {
    return this.#closers.length > 1 && this.#closers.includes('`') && this.content.includes('${');
  }

  /** Ends the string at a line break before which its end quote is missing. */
  endAtLine(source: Source, lineEnd: number): void {
    this.content = this.content.slice(0, lineEnd - source.text.length).trimEnd();
    source.repair('missing_quote', lineEnd);
    source.at = lineEnd;
  }

  #takeControl(source: Source): 'on' {
    if (!this.#controlSeen) source.repair('control_character');
    this.#controlSeen = true;
    return this.#take(source, 1);
  }

  #takeQuote(source: Source, around: StringSurroundings): StringProgress | 'on' {
    const { text, at } = source;
    const quote = text.charAt(at);
    if (this.#triple) {
      if (!source.has(3)) return 'more';
      return source.startsWith(quote.repeat(3)) ? this.#end(source, 3) : this.#take(source, 1);
    }
    if (this.content === '' && this.#closers.length === 1) {
      if (!source.has(2)) return 'more';
      // Three quotes in a row, as Python writes long strings.
      if (text.charAt(at + 1) === quote && text.charAt(at - 1) === quote) {
        source.repair('quote_style', at - 1, 3);
        this.#triple = true;
        source.at += 2;
        return 'on';
      }
    }
    const verdict = judgeQuote(text, at + 1, source.final, around);
    if (verdict === 'unknown') return 'more';
    if (this.#openBrackets === 0) {
      const plainEnd = verdict === 'ends' && !(around.role === 'key' && text[at - 1] === ':');
      const missing = plainEnd ? 'content' : this.#judgeMissingEnd(source, around);
      if (missing === 'unknown') return 'more';
      if (missing === 'ends') return this.#endBefore(source);
      if (verdict === 'ends') return this.#end(source, 1);
    }
    if (!this.unescapedSeen) {
      source.repair('unescaped_quote');
      // `24" wide` is a measure; behind a letter a quote that closes before any has opened stands before an operator.
      this.operatorSeen = this.#closers !== "'" && /\p{L}/u.test(text.charAt(at - 1)) && text.charAt(at + 1) === ' ';
      this.unescapedSeen = true;
      this.#countBrackets(this.content);
    }
    return this.#take(source, 1);
  }

  /** `"a": "text, "b": 1`: this quote opens the next key, item or operand, and the end of this string is missing. */
  #judgeMissingEnd(source: Source, { role }: StringSurroundings): 'ends' | 'content' | 'unknown' {
    const { text, at } = source;
    if (/[^\s,+:/]/.test(text.charAt(at - 1))) return 'content';
    const separator = SEPARATOR.exec(text.slice(Math.max(0, at - LOOK_BEHIND), at))?.[1];
    const separates = { root: '+', key: ':', member: ',+\n', item: ',+' }[role];
    if (separator === undefined || !separates.includes(separator)) return 'content';
    const pattern = NEXT_TOKEN[separator === '+' || role === 'key' || role === 'root' ? 'operand' : role];
    if (/\s{0,64}[:：=]/y.test(text.slice(at + 1, at + 66))) return 'content';
    pattern.lastIndex = at + 1;
    if (pattern.test(text)) return 'ends';
    return source.final || text.length - at > NEXT_TOKEN_WINDOW ? 'content' : 'unknown';
  }

  #endBefore(source: Source): 'done' {
    source.repair('missing_quote');
    const content = withoutFiller(this.content);
    this.separator = /[,+:]$/.exec(content)?.[0] ?? '';
    this.content = this.separator === '' ? content : withoutFiller(content.slice(0, -1));
    return 'done';
  }

  #end(source: Source, length: number): 'done' {
    this.#flatten();
    source.at += length;
    return 'done';
  }

  #takeEscape(source: Source): StringProgress | 'on' {
    const { text, at } = source;
    const next = text.charAt(at + 1);
    if (source.match(CUT_ESCAPE) !== -1 || (this.#escapedQuotes && !source.has(3))) {
      if (source.final) source.at = text.length;
      return source.final ? 'cut' : 'more';
    }
    if (this.#escapedQuotes) {
      if (this.#closers.includes(next)) return this.#end(source, 2);
      if (next === '\\' && isQuote(source.char(2))) return this.#take(source, 3, source.char(2));
    }
    // Where other backslashes were meant as such, `\frac` and `\beta` hold no form feed and no backspace either.
    const isWord = this.#escapeSeen && /^[bf]\p{L}/u.test(text.slice(at + 1, at + 4));
    const simple = isWord ? undefined : ESCAPES[next];
    if (simple !== undefined) return this.#take(source, 2, simple);
    CODE_ESCAPE.lastIndex = at;
    const match = CODE_ESCAPE.exec(text);
    if (match?.[1] === undefined && !this.#escapeSeen) {
      source.repair('invalid_escape');
      this.#escapeSeen = true;
    }
    if (match !== null) {
      const code = Number.parseInt(match[1] ?? match[2] ?? match[3] ?? '', 16);
      return this.#take(source, match[0].length, String.fromCodePoint(code));
    }
    // An escaped quote or line break loses its backslash; any other backslash was meant as one: `C:\dir`, `\d+`, `\alpha`.
    const dropped = isQuote(next) || next === '\n';
    return this.#take(source, 2, dropped ? next : `\\${next}`);
  }

  #take(source: Source, length: number, content = source.text.charAt(source.at)): 'on' {
    this.#append(content);
    source.at += length;
    return 'on';
  }

  #append(piece: string): void {
    this.content += piece;
    this.#loose += piece.length;
    if (this.#loose > FLATTEN_AT && this.#loose > this.content.length / 2) this.#flatten();
    this.#lastCode = piece.charCodeAt(piece.length - 1);
    if (this.unescapedSeen) this.#countBrackets(piece);
  }

  /** Reading a character makes the engine join the pieces and let them go; done seldom enough to stay linear. */
  #flatten(): void {
    this.content.charCodeAt(0);
    this.#loose = 0;
  }

  #countBrackets(piece: string): void {
    if (!/[[\]{}]/.test(piece)) return;
    for (const [bracket] of piece.matchAll(/[[\]{}]/g)) {
      this.#openBrackets = Math.max(0, this.#openBrackets + (bracket === '[' || bracket === '{' ? 1 : -1));
    }
  }
}

/** The text without the white space and block comments at its end. */
function withoutFiller(text: string): string {
  let rest = text.trimEnd();
  while (rest.endsWith('*/') && rest.includes('/*')) rest = rest.slice(0, rest.lastIndexOf('/*')).trimEnd();
  return rest;
}
