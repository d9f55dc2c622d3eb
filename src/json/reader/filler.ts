import type { Source } from './source.js';

// Codes of characters: the loop below sees half of many texts.
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const BACKTICK = 0x60;
const DELETE = 0x7f;

/** What is due: a value (`root`, `first` behind the first bracket, another one), or something else. */
export type Due = 'root' | 'first' | 'value' | 'other';

/** White space JSON does not know but texts contain: no-break and zero-width spaces, the byte order mark. */
const FOREIGN_SPACE = /\\[nrt]|[\s\u180e\u200b-\u200d\u2060]/y;
const FENCE = /```[ \t]*[\w+-]*/y;
/** A fence is passed in one piece, when its language word is sure to be complete. */
const LONGEST_FENCE = 40;

/** Passes over what stands between tokens: white space, comments, Markdown fences. */
export class Filler {
  readonly #source: Source;
  /** A fence behind the beginning of the value is where the text ends; otherwise it is a slip and passed over. */
  readonly #endsAtFence: boolean;
  /** What ends the comment being passed over. */
  #commentEnd = '';

  constructor(source: Source, endsAtFence: boolean) {
    this.#source = source;
    this.#endsAtFence = endsAtFence;
  }

  /**
   * Moves to the next significant character and returns it; empty if the text so far has none. What is due matters: a
   * value may begin with `#`, and a fence behind the first bracket encloses the whole value.
   */
  skip(where: { readonly due: Due }): string {
    const source = this.#source;
    for (;;) {
      if (this.#commentEnd !== '' && !this.#endComment()) return '';
      const { text } = source;
      let { at } = source;
      let code = text.charCodeAt(at);
      while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB)
        code = text.charCodeAt(++at);
      source.at = at;
      const char = text.charAt(at);
      const mayBeFiller = code === SLASH || code === HASH || code === BACKTICK || code === BACKSLASH;
      if (code > SPACE && code < DELETE && !mayBeFiller) return char;
      const passed = this.#pass(char, where.due);
      if (passed !== 'passed') return passed === 'more' ? '' : char;
    }
  }

  #pass(char: string, due: Due): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (char === '`') return this.#passFence(due);
    if (!source.has(2)) return 'more';
    const next = source.char(1);
    const space = source.match(FOREIGN_SPACE);
    if (space !== -1) {
      source.repair('whitespace', source.at, space);
      source.at += space;
      return 'passed';
    }
    // `#fff` where a value is due is text; `# note` is a comment anywhere.
    const comments = char === '#' ? due === 'other' || next.trim() === '' : char === '/' && /[/*]/.test(next);
    if (!comments) return 'token';
    source.repair('comment', source.at, 2);
    this.#commentEnd = next === '*' && char === '/' ? '*/' : '\n';
    source.at += 2;
    return 'passed';
  }

  /** Reads to the end of the open comment; false if the text ends before. */
  #endComment(): boolean {
    const source = this.#source;
    const { text, at } = source;
    const block = this.#commentEnd === '*/';
    const found = text.indexOf(this.#commentEnd, block ? at : at - 1);
    // The star may be the first half of the end.
    source.at =
      found === -1 ? text.length - Number(block && text.endsWith('*') && at < text.length) : found + (block ? 2 : 0);
    if (found !== -1) this.#commentEnd = '';
    return found !== -1;
  }

  #passFence(due: Due): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (!source.startsWith('```')) return source.has(3) ? 'token' : 'more';
    if (due === 'first') {
      source.fail();
      return 'token';
    }
    if (this.#endsAtFence && due !== 'root') {
      source.endHere();
      return 'more';
    }
    const length = source.match(FENCE);
    if (!source.has(length + 1) && length < LONGEST_FENCE) return 'more';
    source.repair('markdown', source.at, length);
    source.at += length;
    return 'passed';
  }
}
