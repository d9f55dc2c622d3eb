import {
  ASTERISK,
  BACKSLASH,
  BACKTICK,
  HASH,
  isForeignSpace,
  isJsonSpace,
  LINE_FEED,
  SLASH,
  startsComment,
} from './character.js';
import type { Source } from './source.js';

const FENCE = /```[ \t]*[\w+-]*/y;
/** A fence is read as one piece only when its language word is sure to be complete. */
const LONGEST_FENCE = 40;

/** Passes over what stands between tokens: white space, comments, Markdown fences. */
export class Filler {
  /** A line break was passed since the flag was last taken back. */
  lineFeedSeen = false;
  private readonly source: Source;
  /** A fence behind the beginning of the value is where the text ends; otherwise it is a slip and passed over. */
  private readonly endsAtFence: boolean;
  private comment: 'none' | 'line' | 'block' = 'none';

  constructor(source: Source, endsAtFence: boolean) {
    this.source = source;
    this.endsAtFence = endsAtFence;
  }

  /** Moves to the next significant character and returns its code; -1 if the text so far has none. */
  skip(state: string, depth: number): number {
    const { source } = this;
    for (;;) {
      if (this.comment !== 'none' && !this.endComment()) return -1;
      const { text } = source;
      let at = source.position;
      let code = 0;
      while (at < text.length) {
        code = text.charCodeAt(at);
        if (code === LINE_FEED) this.lineFeedSeen = true;
        else if (!isJsonSpace(code)) break;
        at++;
      }
      source.position = at;
      if (at === text.length) return -1;
      if (code !== SLASH && code !== HASH && code !== BACKTICK && code !== BACKSLASH && code < 0x80 && code > 0x20) return code;
      const passed = this.passForeign(code, state, depth);
      if (passed !== 'passed') return passed === 'more' ? -1 : code;
    }
  }

  private passForeign(code: number, state: string, depth: number): 'passed' | 'token' | 'more' {
    const { source } = this;
    const { text, position, final } = source;
    if (isForeignSpace(code)) {
      source.repair('whitespace', 'replaced white space JSON does not know', source.offset(position));
      source.position++;
      return 'passed';
    }
    if (code === SLASH || code === HASH) {
      if (position + 1 === text.length && !final) return 'more';
      return this.openComment(code, state) ? 'passed' : 'token';
    }
    if (code === BACKSLASH) {
      if (position + 1 === text.length && !final) return 'more';
      if (!/[nrt]/.test(text.charAt(position + 1))) return 'token';
      source.repair('whitespace', 'removed an escaped line break between tokens', source.offset(position), 2);
      source.position += 2;
      return 'passed';
    }
    return code === BACKTICK ? this.passFence(state, depth) : 'token';
  }

  private openComment(code: number, state: string): boolean {
    const { source } = this;
    const { text, position } = source;
    if (!startsComment(text, position)) return false;
    // `#fff` where a value is due is text; `# note` is a comment anywhere.
    const next = text.charCodeAt(position + 1);
    if (code === HASH && !isJsonSpace(next) && ['root', 'first-item', 'item', 'member'].includes(state)) return false;
    source.repair('comment', 'removed a comment', source.offset(position), 2);
    this.comment = code === SLASH && next === ASTERISK ? 'block' : 'line';
    source.position += this.comment === 'block' ? 2 : 1;
    return true;
  }

  /** Reads to the end of the open comment; false if the text ends before. */
  private endComment(): boolean {
    const { source } = this;
    const end = this.comment === 'line' ? '\n' : '*/';
    const found = source.text.indexOf(end, source.position);
    if (found === -1) {
      // The star may be the first half of the end.
      source.position = Math.max(source.position, source.text.length - (source.text.endsWith('*') ? 1 : 0));
      return false;
    }
    source.position = this.comment === 'line' ? found : found + end.length;
    this.comment = 'none';
    return true;
  }

  private passFence(state: string, depth: number): 'passed' | 'token' | 'more' {
    const { source } = this;
    const { text, position, final } = source;
    if (!text.startsWith('```', position)) return '```'.startsWith(text.slice(position)) && !final ? 'more' : 'token';
    // A fence right behind the first bracket encloses the whole value: the brackets are not part of it.
    if (depth === 1 && (state === 'first-item' || state === 'first-key')) {
      source.fail('SYNTAX', 'a fence stands inside brackets that hold nothing else', source.offset(position));
      return 'token';
    }
    if (this.endsAtFence && state !== 'root') {
      source.endHere();
      return 'more';
    }
    FENCE.lastIndex = position;
    FENCE.test(text);
    if (FENCE.lastIndex === text.length && !final && text.length - position < LONGEST_FENCE) return 'more';
    source.repair('markdown', 'removed a Markdown fence', source.offset(position), FENCE.lastIndex - position);
    source.position = FENCE.lastIndex;
    return 'passed';
  }
}
