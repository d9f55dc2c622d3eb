import {
  ASTERISK,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closesQuoteClass,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  isForeignSpace,
  isJsonSpace,
  isQuote,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  quoteClass,
  SINGLE_QUOTE,
  SLASH,
  SPACE,
} from './character.js';
import { judgeQuote, type StringSurroundings } from './quote-verdict.js';
import { LOOK_BEHIND, type Source } from './source.js';

/** How far reading a string came: to its end, to the end of the text so far, or to the end of all text. */
export type StringProgress = 'done' | 'more' | 'cut';

const SIMPLE_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x62, '\b'],
  [0x66, '\f'],
  [0x6e, '\n'],
  [0x72, '\r'],
  [0x74, '\t'],
]);
const LOWER_U = 0x75;
const LOWER_X = 0x78;
const HEX4 = /[\da-fA-F]{4}/y;
const HEX2 = /[\da-fA-F]{2}/y;
const CODE_POINT = /\{([\da-fA-F]{1,6})\}/y;
/** How far behind a quote the next key or item is looked for when an end quote seems to be missing. */
const NEXT_TOKEN_WINDOW = 256;

/** A quoted string being read: it keeps its place when the text runs out in the middle, even inside an escape. */
export class StringToken {
  /** The decoded content so far. */
  content = '';
  /** Offset of the opening quote in the whole. */
  offset = 0;
  /** The end quote was missing and the separator behind the string was already passed. */
  separatorPassed: 'none' | 'comma' | 'plus' = 'none';
  private opened: 0 | 1 | 2 | 3 | 4 = 1;
  private escapedQuotes = false;
  private controlSeen = false;
  private escapeSeen = false;
  /** An unescaped quote was found: from here on brackets opened inside the string must be closed before it may end. */
  unescapedSeen = false;
  private triple = false;
  private openBrackets = 0;
  private lastCode = 0;

  /**
   * Starts at the opening quote (or at the backslash before it) under `source.position`; false if more text is needed to
   * tell three quotes in a row, as Python writes them, from an empty string.
   */
  open(source: Source): boolean {
    const { text, position } = source;
    const code = text.charCodeAt(position);
    const doubled = (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) && text.charCodeAt(position + 1) === code;
    if (doubled && position + 2 === text.length && !source.final) return false;
    this.triple = doubled && text.charCodeAt(position + 2) === code;
    this.escapedQuotes = code === BACKSLASH;
    this.offset = source.offset(position);
    const quote = this.escapedQuotes ? text.charCodeAt(position + 1) : code;
    this.opened = quoteClass(quote);
    if (this.triple) source.repair('quote_style', 'replaced triple quotes by double quotes', this.offset, 3);
    if (this.escapedQuotes) source.repair('escaped_quotes', 'removed the backslash before a quote', this.offset, 2);
    else if (quote !== DOUBLE_QUOTE) source.repair('quote_style', 'replaced quotation marks by double quotes', this.offset);
    source.position += this.triple ? 3 : this.escapedQuotes ? 2 : 1;
    this.content = '';
    this.separatorPassed = 'none';
    this.controlSeen = false;
    this.escapeSeen = false;
    this.unescapedSeen = false;
    this.openBrackets = 0;
    this.lastCode = 0;
    return true;
  }

  read(source: Source, around: StringSurroundings): StringProgress {
    const { text } = source;
    const straight = this.opened === 1;
    let from = source.position;
    let at = from;
    for (;;) {
      let code = 0;
      while (at < text.length) {
        code = text.charCodeAt(at);
        if (code === DOUBLE_QUOTE ? straight || this.opened === 4 : code < SPACE || code === BACKSLASH) break;
        if (!straight && closesQuoteClass(this.opened, code)) break;
        at++;
      }
      if (at > from) this.append(text.slice(from, at));
      source.position = at;
      if (at === text.length) return source.final ? 'cut' : 'more';
      if (code < SPACE) {
        this.takeControlCharacter(source, at);
        this.append(text.charAt(at++));
      } else if (code === BACKSLASH) {
        const end = this.takeEscape(source, at);
        if (end === -1) return this.suspendInEscape(source);
        if (end === -2) return 'done';
        at = end;
      } else {
        const progress = this.takeQuote(source, at, around);
        if (progress !== 'content') return progress;
        this.append(text.charAt(at++));
      }
      from = at;
      source.position = at;
    }
  }

  /** The content without half of a surrogate pair at its end: fit to be shown before the string is finished. */
  get shown(): string {
    return this.lastCode >= 0xd800 && this.lastCode <= 0xdbff ? this.content.slice(0, -1) : this.content;
  }

  /** Ends the string at a line break before which its end quote is missing. */
  endAtLine(source: Source, lineEnd: number): void {
    const lost = source.text.length - lineEnd;
    this.content = this.content.slice(0, this.content.length - lost).trimEnd();
    source.repair('missing_quote', 'added the missing end quote of a string', source.offset(lineEnd));
    source.position = lineEnd;
  }

  private takeQuote(source: Source, at: number, around: StringSurroundings): StringProgress | 'content' {
    if (this.triple) return this.takeTripleQuote(source, at);
    const verdict = judgeQuote(source.text, at + 1, source.text.length, source.final, around);
    if (verdict === 'unknown') return 'more';
    const mayEnd = this.openBrackets === 0;
    if (verdict === 'ends' && mayEnd) {
      source.position = at + 1;
      return 'done';
    }
    const missing = mayEnd ? this.judgeMissingEnd(source, at, around) : 'content';
    if (missing === 'unknown') return 'more';
    if (missing === 'ends') {
      this.endBefore(source, at);
      return 'done';
    }
    if (!this.unescapedSeen) {
      source.repair('unescaped_quote', 'escaped a quote inside a string', source.offset(at));
      this.unescapedSeen = true;
      this.countBrackets(this.content);
    }
    return 'content';
  }

  private takeTripleQuote(source: Source, at: number): StringProgress | 'content' {
    if (at + 3 > source.text.length && !source.final) return 'more';
    const end = source.text.charAt(at).repeat(3);
    if (!source.text.startsWith(end, at)) return 'content';
    source.position = at + 3;
    return 'done';
  }

  /** `"a": "text, "b": 1`: this quote opens the next key, item or operand, and the end of this string is missing. */
  private judgeMissingEnd(source: Source, at: number, around: StringSurroundings): 'ends' | 'content' | 'unknown' {
    if (around.role === 'key') return 'content';
    const before = this.lastBefore(source, at);
    const separated = before.code === COMMA ? around.role !== 'root' : before.newLine && around.role === 'member';
    if (!separated && before.code !== PLUS) return 'content';
    const { text } = source;
    const edge = Math.min(text.length, at + NEXT_TOKEN_WINDOW);
    for (let end = at + 1; end < edge; end++) {
      const code = text.charCodeAt(end);
      if (code === LINE_FEED || (around.role === 'item' && code === COMMA)) return 'content';
      if (!isQuote(code)) continue;
      let next = end + 1;
      while (next < edge && (isJsonSpace(text.charCodeAt(next)) || isForeignSpace(text.charCodeAt(next)))) next++;
      if (next === text.length) return source.final && before.code === PLUS ? 'ends' : source.final ? 'content' : 'unknown';
      const follower = text.charCodeAt(next);
      if (around.role === 'member' && separated) return follower === COLON ? 'ends' : 'content';
      return follower === COMMA || follower === CLOSE_BRACKET || follower === CLOSE_BRACE ? 'ends' : 'content';
    }
    return edge === text.length && !source.final ? 'unknown' : 'content';
  }

  /** The last character before the quote that is neither white space nor comment, and whether a line ended behind it. */
  private lastBefore(source: Source, at: number): { readonly code: number; readonly newLine: boolean } {
    const { text } = source;
    let newLine = false;
    for (let before = at - 1; before >= Math.max(0, at - LOOK_BEHIND); before--) {
      const code = text.charCodeAt(before);
      if (code === LINE_FEED) newLine = true;
      else if (code === SLASH && text.charCodeAt(before - 1) === ASTERISK) before = text.lastIndexOf('/*', before - 2);
      else if (!isJsonSpace(code)) return { code, newLine };
    }
    return { code: 0, newLine };
  }

  private endBefore(source: Source, at: number): void {
    source.repair('missing_quote', 'added the missing end quote of a string', source.offset(at));
    const content = withoutFiller(this.content);
    this.separatorPassed = content.endsWith(',') ? 'comma' : content.endsWith('+') ? 'plus' : 'none';
    this.content = this.separatorPassed === 'none' ? content : withoutFiller(content.slice(0, -1));
    source.position = at;
  }

  /** The content is only ever appended to: reading it here would copy it again for every piece. */
  private append(piece: string): void {
    this.content += piece;
    this.lastCode = piece.charCodeAt(piece.length - 1);
    if (this.unescapedSeen) this.countBrackets(piece);
  }

  private countBrackets(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === OPEN_BRACE || code === OPEN_BRACKET) this.openBrackets++;
      else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && this.openBrackets > 0) this.openBrackets--;
    }
  }

  private takeControlCharacter(source: Source, at: number): void {
    if (!this.controlSeen) source.repair('control_character', 'escaped a control character in a string', source.offset(at));
    this.controlSeen = true;
  }

  /** Index behind the escape; -1 if it is not complete, -2 if it is the (escaped) end quote of the string. */
  private takeEscape(source: Source, at: number): number {
    const { text } = source;
    const next = text.charCodeAt(at + 1);
    if (at + 1 >= text.length) return -1;
    if (this.escapedQuotes) {
      if (closesQuoteClass(this.opened, next)) {
        source.position = at + 2;
        return -2;
      }
      if (next === BACKSLASH && at + 2 >= text.length && !source.final) return -1;
      if (next === BACKSLASH && isQuote(text.charCodeAt(at + 2))) {
        this.append(text.charAt(at + 2));
        return at + 3;
      }
    }
    const simple = SIMPLE_ESCAPES.get(next);
    if (simple !== undefined) {
      this.append(simple);
      return at + 2;
    }
    if (next === LOWER_U) return this.takeUnicodeEscape(source, at);
    this.repairEscape(source, at);
    if (next === LOWER_X && matchesAt(HEX2, text, at + 2)) {
      this.append(String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 4), 16)));
      return at + 4;
    }
    // An escaped quote or line break loses its backslash; any other backslash was meant as one: `C:\dir`, `\d+`, `\alpha`.
    this.append(isQuote(next) || next === LINE_FEED ? text.charAt(at + 1) : text.slice(at, at + 2));
    return at + 2;
  }

  private takeUnicodeEscape(source: Source, at: number): number {
    const { text } = source;
    if (matchesAt(HEX4, text, at + 2)) {
      this.append(String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16)));
      return at + 6;
    }
    if (at + 6 > text.length && /^[\da-fA-F]*$/.test(text.slice(at + 2))) return -1;
    this.repairEscape(source, at);
    CODE_POINT.lastIndex = at + 2;
    const point = Number.parseInt(CODE_POINT.exec(text)?.[1] ?? '', 16);
    if (point <= 0x10ffff) {
      this.append(String.fromCodePoint(point));
      return text.indexOf('}', at) + 1;
    }
    this.append('\\u');
    return at + 2;
  }

  private repairEscape(source: Source, at: number): void {
    if (!this.escapeSeen) source.repair('invalid_escape', 'rewrote an escape JSON does not have', source.offset(at));
    this.escapeSeen = true;
  }

  private suspendInEscape(source: Source): StringProgress {
    if (!source.final) return 'more';
    source.position = source.text.length;
    return 'cut';
  }
}

/** The text without the white space and block comments at its end. */
function withoutFiller(text: string): string {
  let rest = text.trimEnd();
  while (rest.endsWith('*/') && rest.includes('/*')) rest = rest.slice(0, rest.lastIndexOf('/*')).trimEnd();
  return rest;
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
