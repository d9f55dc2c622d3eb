import {
  asciiPunctuation,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  EQUALS,
  HASH,
  isForeignSpace,
  isJsonSpace,
  isQuote,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  quoteClass,
  SLASH,
  startsComment,
} from './character.js';
import { readLiteralOrNumber } from './bare-text.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';

/** How far reading unquoted text came; `call` stands before the parenthesis of `name(`. */
export type BareProgress = 'done' | 'more' | 'cut' | 'call';

/** White space behind a stray end quote that is looked through for the delimiter. */
const QUOTE_WINDOW = 64;
const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$.]*$/u;
const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n])*\//y;

/** Unquoted text being read: a number, a literal, a key or words without quotes. */
export class BareToken {
  /** Offset of the first character in the whole. */
  offset = 0;
  /** A quote closed the text although none opened it. */
  strayQuote = false;
  private raw = '';
  private isKey = false;
  private extraStops = '';
  /** The first word is complete and was neither literal nor number: the text goes on to the next delimiter. */
  private isPhrase = false;

  /** `extraStops`: characters that end the text here although they may stand in one elsewhere. */
  open(source: Source, isKey: boolean, extraStops: string): void {
    this.offset = source.offset(source.position);
    this.raw = '';
    this.isKey = isKey;
    this.extraStops = extraStops;
    this.isPhrase = false;
    this.strayQuote = false;
  }

  /** The text without the white space around it. */
  get text(): string {
    return this.raw.trim();
  }

  read(source: Source, policy: ReaderPolicy): BareProgress {
    if (this.takeRegularExpression(source, policy)) return 'done';
    for (;;) {
      const { text } = source;
      const from = source.position;
      let at = from;
      while (at < text.length && (isAsciiWord(text.charCodeAt(at)) || !this.stopsAt(text, at))) at++;
      this.raw += text.slice(from, at);
      source.position = at;
      if (at === text.length) return source.final ? 'cut' : 'more';
      const code = text.charCodeAt(at);
      if (isJsonSpace(code) || isForeignSpace(code)) {
        if (code === LINE_FEED || this.isKey) return this.endAtSpace(source);
        if (!this.isPhrase && readLiteralOrNumber(this.text, policy) !== undefined) return 'done';
        if (this.isCall(source, policy)) return 'call';
        this.isPhrase = true;
        this.raw += text.charAt(at);
        source.position++;
      } else if (code === OPEN_PARENTHESIS) {
        if (this.isCall(source, policy)) return 'call';
        this.raw += '(';
        source.position++;
      } else if (isQuote(code)) {
        return this.takeStrayQuote(source);
      } else {
        return 'done';
      }
    }
  }

  private stopsAt(text: string, at: number): boolean {
    const raw = text.charCodeAt(at);
    if (isJsonSpace(raw)) return true;
    const code = asciiPunctuation(raw);
    switch (code) {
      case COMMA:
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return true;
      case OPEN_PARENTHESIS:
        return !this.isKey;
      case COLON:
      case EQUALS:
        return this.isKey;
      case SLASH:
      case HASH:
        return this.startsCommentAt(text, at);
      default: {
        const quote = quoteClass(code);
        if (quote === 1 || quote === 4 || (code > 0x7f && isForeignSpace(code))) return true;
        return this.extraStops !== '' && this.extraStops.includes(text.charAt(at));
      }
    }
  }

  /** `//` and `#` start a comment only behind white space: they also stand in addresses. */
  private startsCommentAt(text: string, at: number): boolean {
    if (!startsComment(text, at)) return false;
    return text.startsWith('/*', at) || (at > 0 && isJsonSpace(text.charCodeAt(at - 1)));
  }

  /** A key may consist of several words on a line; a value ends with the line. */
  private endAtSpace(source: Source): BareProgress {
    if (!this.isKey || source.text.charCodeAt(source.position) === LINE_FEED) return 'done';
    let next = source.position;
    while (next < source.text.length && isJsonSpace(source.text.charCodeAt(next))) next++;
    if (next === source.text.length && !source.final) return 'more';
    if (next < source.text.length && !isQuote(source.text.charCodeAt(next))) this.raw += source.text.slice(source.position, next);
    source.position = next;
    return next === source.text.length || this.stopsAt(source.text, next) || isQuote(source.text.charCodeAt(next))
      ? 'done'
      : this.continueKey(source);
  }

  private continueKey(source: Source): BareProgress {
    const { text } = source;
    let at = source.position;
    while (at < text.length && !this.stopsAt(text, at)) at++;
    this.raw += text.slice(source.position, at);
    source.position = at;
    if (at === text.length) return source.final ? 'cut' : 'more';
    return isJsonSpace(text.charCodeAt(at)) ? this.endAtSpace(source) : 'done';
  }

  private isCall(source: Source, policy: ReaderPolicy): boolean {
    if (this.isPhrase || this.isKey || !policy.repairs.has('function_call')) return false;
    let next = source.position;
    while (isJsonSpace(source.text.charCodeAt(next))) next++;
    return source.text.charCodeAt(next) === OPEN_PARENTHESIS && IDENTIFIER.test(this.text);
  }

  /** `{a": 1}` and `[a", 2]`: a quote before a delimiter ends the text; any other opens the next token. */
  private takeStrayQuote(source: Source): BareProgress {
    const { text } = source;
    let next = source.position + 1;
    while (next < text.length && next - source.position < QUOTE_WINDOW && isJsonSpace(text.charCodeAt(next))) next++;
    if (next === text.length && !source.final) return 'more';
    const code = asciiPunctuation(text.charCodeAt(next));
    const delimits = next === text.length || code === COMMA || code === COLON || code === CLOSE_BRACE || code === CLOSE_BRACKET;
    if (delimits && !/\s$/.test(this.raw)) {
      this.strayQuote = true;
      source.position++;
    }
    return 'done';
  }

  private takeRegularExpression(source: Source, policy: ReaderPolicy): boolean {
    if (policy.bareText !== 'any' || this.raw !== '' || this.isKey) return false;
    REGULAR_EXPRESSION.lastIndex = source.position;
    if (!REGULAR_EXPRESSION.test(source.text)) return false;
    this.raw = source.text.slice(source.position, REGULAR_EXPRESSION.lastIndex);
    source.position = REGULAR_EXPRESSION.lastIndex;
    return true;
  }
}

/** The characters most unquoted text consists of; a shortcut past the questions that only others raise. */
function isAsciiWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}
