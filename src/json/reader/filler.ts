import { skipSpace } from './character.js';
import type { Source } from './source.js';

/** The expected token: a value (`root`, `first` after the first bracket, another one), or something else. */
export type Due = 'root' | 'first' | 'value' | 'other';

/** The state of the structure around the filler. */
interface FillerContext {
  readonly due: Due;
  /** If true, a fence after the beginning of the value is skipped as a mistake; otherwise the text ends there. */
  readonly rootMustEnd: boolean;
}

/** White space that JSON does not allow but texts contain: no-break and zero-width spaces, the byte order mark, terminal colours, block quotes. */
const FOREIGN_SPACE = /\\[nrt]|[\s\u180e\u200b-\u200d\u2060]|\p{Cc}\[[\d;]{0,32}[A-Za-z]|(?<=\n|^)>/uy;
const FENCE = /```[ \t]*[\w+-]*/y;
/** Markdown around a key or a value. Two underscores count only where they cannot be part of a name. */
const EMPHASIS = /\*\*|__(?=["\d-]|(?:true|false|null)__|\s*(?:[:,}\]]|$))/y;
const CUT_EMPHASIS = /_\w{0,9}\s*$/y;
/** A fence is skipped in one piece, once its language word is known to be complete. */
const MAX_FENCE_LENGTH = 40;

/** Skips what is between tokens: white space, comments, Markdown fences. */
export class Filler {
  readonly #source: Source;
  /** The text that ends the open comment. */
  #commentEnd = '';

  constructor(source: Source) {
    this.#source = source;
  }

  /**
   * Moves to the next significant character and returns it; empty if the text so far has none. What is due matters: a
   * value may begin with `#`, and a fence after the first bracket encloses the whole value.
   */
  skip(where: FillerContext): string {
    const source = this.#source;
    for (;;) {
      if (this.#commentEnd !== '' && !this.#endComment()) return '';
      source.at = skipSpace(source.text, source.at);
      const char = source.char();
      const code = char.charCodeAt(0);
      if (code > 0x20 && code < 0x7f && !'/#`\\*<>_'.includes(char)) return char;
      const passed = this.#pass(char, where);
      if (passed !== 'passed') return passed === 'more' ? '' : char;
    }
  }

  #pass(char: string, where: FillerContext): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (char === '`') return this.#passFence(where);
    if (!source.has(char === '<' ? 4 : 2) || (!source.final && source.match(CUT_EMPHASIS) !== -1)) return 'more';
    const next = source.char(1);
    const space = source.match(FOREIGN_SPACE);
    if (space !== -1) {
      source.repair('whitespace', source.at, space);
      source.at += space;
      return 'passed';
    }
    if (source.match(EMPHASIS) !== -1) {
      source.repair('markdown', source.at, 2);
      source.at += 2;
      return 'passed';
    }
    // `#fff` where a value is due is text; `# note` is a comment anywhere.
    const isHtml = source.text.startsWith('<!--', source.at);
    const comments =
      isHtml || (char === '#' ? where.due === 'other' || next.trim() === '' : char === '/' && /[/*]/.test(next));
    if (!comments) return 'token';
    source.repair('comment', source.at, 2);
    this.#commentEnd = isHtml ? '-->' : next === '*' && char === '/' ? '*/' : '\n';
    source.at += 2;
    return 'passed';
  }

  /** Reads to the end of the open comment; false if the text ends before. */
  #endComment(): boolean {
    const source = this.#source;
    const { text, at } = source;
    const end = this.#commentEnd;
    const isBlock = end !== '\n';
    const found = text.indexOf(end, isBlock ? at : at - 1);
    // The last characters may be the beginning of the end.
    let kept = end.length - 1;
    while (!text.endsWith(end.slice(0, kept))) kept--;
    source.at = found === -1 ? Math.max(at, text.length - kept) : found + (isBlock ? end.length : 0);
    if (found !== -1) this.#commentEnd = '';
    return found !== -1;
  }

  #passFence({ due, rootMustEnd }: FillerContext): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (!source.text.startsWith('```', source.at)) return source.has(3) ? 'token' : 'more';
    if (due === 'first') {
      source.fail();
      return 'token';
    }
    // After a colon or a comma a fence is used as quotes, at the beginning of a line it ends the block.
    if (due === 'value' && /[:,[][ \t]{0,9}$/.test(source.text.slice(0, source.at).slice(-10))) return 'token';
    if (!rootMustEnd && due !== 'root') {
      source.endHere();
      return 'more';
    }
    const length = source.match(FENCE);
    if (!source.has(length + 1) && length < MAX_FENCE_LENGTH) return 'more';
    source.repair('markdown', source.at, length);
    source.at += length;
    return 'passed';
  }
}
