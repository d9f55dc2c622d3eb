import {
  asciiPunctuation,
  BACKSLASH,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  COMMA,
  DOT,
  EQUALS,
  isForeignSpace,
  isJsonSpace,
  isQuote,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  SEMICOLON,
  startsComment,
} from './character.js';

/** What a quote inside a string is: its end, part of its content, or not yet decidable. */
export type QuoteVerdict = 'ends' | 'content' | 'unknown';

/** What the string is read as, and what stands around it. */
export interface StringSurroundings {
  readonly role: 'root' | 'key' | 'member' | 'item';
  /** Open containers around the string. */
  readonly depth: number;
  readonly arrayAbove: boolean;
  readonly objectAbove: boolean;
  /** Nothing but white space and comments may follow the root value. */
  readonly rootMustEnd: boolean;
  readonly insideCall: boolean;
}

/** How far a verdict looks ahead. What lies beyond counts as an end, so that time stays linear and memory bounded. */
const WINDOW = 1024;
const LITERAL_OR_NUMBER =
  /(?:true|false|null|True|False|None|undefined|NaN|-?\d[\d.eE+-]*)(?=[\s,\]}]|$)/y;

/**
 * Judges a quote by what follows it. In valid JSON a closing quote is followed by `:`, `,`, `}`, `]` and a matching
 * continuation, so it is always judged an end; only text that is no JSON anyway can make a quote part of the content.
 */
export function judgeQuote(
  text: string,
  after: number,
  limit: number,
  final: boolean,
  around: StringSurroundings,
): QuoteVerdict {
  return new Lookahead(text, limit, final, Math.min(limit, after + WINDOW), around).judge(after);
}

class Lookahead {
  readonly text: string;
  readonly limit: number;
  readonly final: boolean;
  readonly edge: number;
  readonly around: StringSurroundings;

  constructor(text: string, limit: number, final: boolean, edge: number, around: StringSurroundings) {
    this.text = text;
    this.limit = limit;
    this.final = final;
    this.edge = edge;
    this.around = around;
  }

  judge(after: number): QuoteVerdict {
    const next = this.skipSpace(after);
    if (next >= this.edge) return this.ranOut();
    const code = this.codeAt(next);
    if (startsComment(this.text, next)) return 'ends';
    if (this.text.startsWith('```', next)) return 'ends';
    if (code === PLUS) return this.isConcatenation(next + 1);
    if (code === CLOSE_PARENTHESIS && this.around.insideCall) return 'ends';
    switch (this.around.role) {
      case 'key':
        return this.afterKey(next, code);
      case 'member':
        return this.afterMember(after, next, code);
      case 'item':
        return this.afterItem(after, next, code);
      case 'root':
        return this.afterRoot(after, next, code);
    }
  }

  private afterKey(next: number, code: number): QuoteVerdict {
    if (code === COLON || code === EQUALS || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'ends';
    if (isQuote(code) || code === OPEN_BRACE || code === OPEN_BRACKET || code === BACKSLASH) return 'ends';
    if (this.isLiteralOrNumber(next)) return 'ends';
    // A word follows: the quote belongs to the key if the key's real end, `":`, comes on the same line.
    for (let at = next; at < this.edge; at++) {
      const found = this.text.charCodeAt(at);
      if (found === LINE_FEED) return 'ends';
      if (!isQuote(found)) continue;
      const colon = this.skipSpace(at + 1);
      if (colon >= this.edge) return this.ranOut();
      if (this.codeAt(colon) === COLON) return 'content';
    }
    return this.ranOut();
  }

  private afterMember(after: number, next: number, code: number): QuoteVerdict {
    switch (code) {
      case CLOSE_BRACE:
        return this.afterClosing(next + 1, this.around.depth - 1);
      case CLOSE_BRACKET:
        if (this.around.arrayAbove) return this.afterClosing(next + 1, this.around.depth - 2);
        return this.skipSpace(next + 1) >= this.edge ? this.ranOut() : 'content';
      case COMMA:
      case SEMICOLON:
        return this.startsMember(after, next + 1, true);
      case COLON:
        return 'content';
      default:
        return this.startsMember(after, next, this.hasLineFeed(after, next));
    }
  }

  /** After a comma, or where a comma is missing: a key with its colon, or the end of the object. */
  private startsMember(after: number, from: number, separated: boolean): QuoteVerdict {
    const next = this.skipSpace(from);
    if (next >= this.edge) return this.ranOut();
    const code = this.codeAt(next);
    if (isQuote(code) || code === BACKSLASH) return this.isQuotedKey(next, from !== next || separated);
    if (!separated) return 'content';
    if (code === CLOSE_BRACE || code === COMMA || code === DOT || startsComment(this.text, next)) return 'ends';
    if (code === CLOSE_BRACKET || code === OPEN_BRACE) return this.around.arrayAbove ? 'ends' : 'content';
    return isWordCharacter(code) && this.hasLineFeed(after, next) ? this.isBareKey(next) : this.isBareKeyWithQuotedValue(next);
  }

  /** A key in quotes and its colon. Behind a comma a key that was cut counts too. */
  private isQuotedKey(at: number, cutAllowed: boolean): QuoteVerdict {
    const open = this.codeAt(at) === BACKSLASH ? at + 1 : at;
    for (let end = open + 1; end < this.edge; end++) {
      const code = this.text.charCodeAt(end);
      if (code === BACKSLASH) end++;
      else if (code === LINE_FEED) return 'content';
      else if (isQuote(code) && (code === this.text.charCodeAt(open) || code > 0x7f)) {
        const next = this.skipSpace(end + 1);
        if (next >= this.edge) return this.ranOut();
        const follower = this.codeAt(next);
        return follower === COLON || follower === EQUALS || isQuote(follower) ? 'ends' : 'content';
      }
    }
    return cutAllowed || !this.final ? this.ranOut() : 'content';
  }

  private isBareKey(at: number): QuoteVerdict {
    let end = at;
    while (end < this.edge && (isWordCharacter(this.text.charCodeAt(end)) || this.text.charCodeAt(end) === MINUS)) end++;
    // `b": 1`: a key that lost its opening quote.
    const next = this.skipSpace(isQuote(this.codeAt(end)) ? end + 1 : end);
    if (next >= this.edge) return this.ranOut();
    return this.codeAt(next) === COLON ? 'ends' : 'content';
  }

  /** `", key: "…` on one line: prose may hold `, note:` too, so a quoted value, number or bracket must follow. */
  private isBareKeyWithQuotedValue(at: number): QuoteVerdict {
    const key = this.isBareKey(at);
    if (key !== 'ends') return key;
    const colon = this.text.indexOf(':', at);
    const value = this.skipSpace(colon + 1);
    if (value >= this.edge) return this.ranOut();
    const code = this.codeAt(value);
    if (isQuote(code) || code === OPEN_BRACE || code === OPEN_BRACKET) return 'ends';
    return this.isLiteralOrNumber(value) ? 'ends' : 'content';
  }

  private afterItem(after: number, next: number, code: number): QuoteVerdict {
    switch (code) {
      case CLOSE_BRACKET:
        return this.afterClosing(next + 1, this.around.depth - 1);
      case CLOSE_BRACE:
        if (this.around.objectAbove) return this.afterClosing(next + 1, this.around.depth - 2);
        return this.skipSpace(next + 1) >= this.edge ? this.ranOut() : 'content';
      case COMMA:
        return this.startsItem(next + 1);
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return 'ends';
      case COLON:
        return 'content';
      default:
        if (isQuote(code)) return this.isDoubledQuote(after, next) ? 'content' : 'ends';
        return this.isLiteralOrNumber(next) || this.hasLineFeed(after, next) ? this.isBareItem(next) : 'content';
    }
  }

  private startsItem(from: number): QuoteVerdict {
    const next = this.skipSpace(from);
    if (next >= this.edge) return this.ranOut();
    const code = this.codeAt(next);
    if (isQuote(code) || code === BACKSLASH || code === COMMA || code === DOT || startsComment(this.text, next)) return 'ends';
    if (code === OPEN_BRACE || code === OPEN_BRACKET || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'ends';
    return this.isBareItem(next);
  }

  /** An unquoted item reaches its comma or bracket before any quote; the rest of a quoted sentence does not. */
  private isBareItem(at: number): QuoteVerdict {
    for (let end = at; end < this.edge; end++) {
      const code = this.codeAt(end);
      if (code === COMMA || code === CLOSE_BRACKET || code === LINE_FEED) return 'ends';
      if (isQuote(code)) {
        const next = this.skipSpace(end + 1);
        if (next >= this.edge) return this.ranOut();
        return code < 0x7f && isQuote(this.codeAt(next)) ? 'ends' : 'content';
      }
    }
    return this.ranOut();
  }

  /** `72""]`: of two quotes in a row before a delimiter the first one is content. */
  private isDoubledQuote(after: number, next: number): boolean {
    if (next !== after) return false;
    const code = this.codeAt(this.skipSpace(next + 1));
    return code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE;
  }

  private afterRoot(after: number, next: number, code: number): QuoteVerdict {
    if (code === COMMA) return this.startsItem(next + 1);
    if (code === SEMICOLON) return 'ends';
    return this.hasLineFeed(after, next) && isQuote(code) ? 'ends' : 'content';
  }

  /** A bracket follows the quote: it is structure if the structure goes on behind it. */
  private afterClosing(from: number, depth: number): QuoteVerdict {
    if (depth <= 0 && !this.around.rootMustEnd) return 'ends';
    const next = this.skipSpace(from);
    if (next >= this.edge) return this.ranOut();
    const code = this.codeAt(next);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || startsComment(this.text, next)) return 'ends';
    if (depth <= 0) {
      if (code === BACKTICK || code === SEMICOLON) return 'ends';
      return code === CLOSE_PARENTHESIS && this.around.insideCall ? 'ends' : 'content';
    }
    if (isQuote(code) || code === OPEN_BRACE || code === OPEN_BRACKET) return 'ends';
    return this.hasLineFeed(from, next) ? 'ends' : 'content';
  }

  private isConcatenation(from: number): QuoteVerdict {
    const next = this.skipSpace(from);
    if (next >= this.edge) return this.ranOut();
    return isQuote(this.codeAt(next)) || startsComment(this.text, next) ? 'ends' : 'content';
  }

  private isLiteralOrNumber(at: number): boolean {
    LITERAL_OR_NUMBER.lastIndex = at;
    return LITERAL_OR_NUMBER.test(this.text);
  }

  private hasLineFeed(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (this.text.charCodeAt(at) === LINE_FEED) return true;
    return false;
  }

  private skipSpace(from: number): number {
    let at = from;
    while (at < this.edge) {
      const code = this.text.charCodeAt(at);
      if (!isJsonSpace(code) && !isForeignSpace(code)) break;
      at++;
    }
    return at;
  }

  private codeAt(at: number): number {
    return asciiPunctuation(this.text.charCodeAt(at));
  }

  /** The window or the text ended before anything spoke against an end. */
  private ranOut(): QuoteVerdict {
    return this.edge === this.limit && !this.final ? 'unknown' : 'ends';
  }
}
