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
   * Moves to the next significant character and returns its code; -1 if the text so far has none. `place` tells what is
   * due: a value may begin with `#`, and a fence behind the first bracket encloses the whole value.
   */
  skip(place: 'root' | 'first' | 'value' | 'other'): number {
    const source = this.#source;
    for (;;) {
      if (this.#commentEnd !== '' && !this.#endComment()) return -1;
      const { text } = source;
      let { at } = source;
      let code = text.charCodeAt(at);
      while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
        if (code === LINE_FEED) this.lineFeedSeen = true;
        code = text.charCodeAt(++at);
      }
      source.at = at;
      if (Number.isNaN(code)) return -1;
      const special = code === SLASH || code === HASH || code === BACKTICK || code === BACKSLASH;
      const passed = special || code > 0x7f || code < SPACE ? this.#pass(code, place) : 'token';
      if (passed !== 'passed') return passed === 'more' ? -1 : code;
    }
  }

  #pass(code: number, place: 'root' | 'first' | 'value' | 'other'): 'passed' | 'token' | 'more' {
    const source = this.#source;
    if (code === BACKTICK) return this.#passFence(place);
    if (!source.has(2)) return 'more';
    const next = source.text.charAt(source.at + 1);
    const foreign = code < SPACE || code > 0x7f;
    if (code === BACKSLASH ? /[nrt]/.test(next) : foreign && FOREIGN_SPACE.test(String.fromCharCode(code))) {
      source.repair('whitespace', source.at, code === BACKSLASH ? 2 : 1);
      source.at += code === BACKSLASH ? 2 : 1;
      return 'passed';
    }
    // `#fff` where a value is due is text; `# note` is a comment anywhere.
    const comments = code === HASH ? place === 'other' || next.trim() === '' : code === SLASH && /[/*]/.test(next);
    if (!comments) return 'token';
    source.repair('comment', source.at, 2);
    this.#commentEnd = next === '*' && code === SLASH ? '*/' : '\n';
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

  #passFence(place: 'root' | 'first' | 'value' | 'other'): 'passed' | 'token' | 'more' {
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
