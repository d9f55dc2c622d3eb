import {
  BACKSLASH,
  BACKTICK,
  CARRIAGE_RETURN,
  FOREIGN_SPACE,
  HASH,
  LINE_FEED,
  SLASH,
  SPACE,
  TAB,
} from './character.js';
import type { Source } from './source.js';

/** What is due: a value (`root`, `first` behind the first bracket, another one), or something else. */
type Place = 'root' | 'first' | 'value' | 'other';

const FENCE = /```[ \t]*[\w+-]*/y;
/** A fence is passed in one piece, when its language word is sure to be complete. */
const LONGEST_FENCE = 40;

/** Passes over what stands between tokens: white space, comments, Markdown fences. */
export class Filler {
  /** A line break was passed since the flag was last taken back. */
  lineFeedSeen = false;
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
   * Moves to the next significant character and returns it; empty if the text so far has none. `place` tells what is
   * due: a value may begin with `#`, and a fence behind the first bracket encloses the whole value.
   */
  skip(place: Place): string {
    const source = this.#source;
    for (;;) {
      if (this.#commentEnd !== '' && !this.#endComment()) return '';
      const { text } = source;
      let { at } = source;
      let code = text.charCodeAt(at);
      while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
        if (code === LINE_FEED) this.lineFeedSeen = true;
        code = text.charCodeAt(++at);
      }
      source.at = at;
      const char = text.charAt(at);
      const special = code === SLASH || code === HASH || code === BACKTICK || code === BACKSLASH;
      const passed = special || code > 0x7f || code < SPACE ? this.#pass(char, place) : 'token';
      if (passed !== 'passed') return passed === 'more' ? '' : char;
    }
  }

  #pass(char: string, place: Place): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (char === '`') return this.#passFence(place);
    if (!source.has(2)) return 'more';
    const next = source.char(1);
    const escaped = char === '\\' && /[nrt]/.test(next);
    if (escaped || FOREIGN_SPACE.test(char)) {
      const length = escaped ? 2 : 1;
      source.repair('whitespace', source.at, length);
      source.at += length;
      return 'passed';
    }
    // `#fff` where a value is due is text; `# note` is a comment anywhere.
    const comments = char === '#' ? place === 'other' || next.trim() === '' : char === '/' && /[/*]/.test(next);
    if (!comments) return 'token';
    source.repair('comment', source.at, 2);
    this.#commentEnd = next === '*' && char === '/' ? '*/' : '\n';
    source.at += 2;
    return 'passed';
  }

  /** Reads to the end of the open comment; false if the text ends before. */
  #endComment(): boolean {
    const source = this.#source;
    const block = this.#commentEnd === '*/';
    const found = source.text.indexOf(this.#commentEnd, block ? source.at : source.at - 1);
    if (found === -1) {
      // The star may be the first half of the end.
      source.at = source.text.length - (block && source.text.endsWith('*') && source.at < source.text.length ? 1 : 0);
      return false;
    }
    source.at = found + (block ? 2 : 0);
    this.#commentEnd = '';
    return true;
  }

  #passFence(place: Place): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (!source.startsWith('```')) return source.has(3) ? 'token' : 'more';
    if (place === 'first') {
      source.fail();
      return 'token';
    }
    if (this.#endsAtFence && place !== 'root') {
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
