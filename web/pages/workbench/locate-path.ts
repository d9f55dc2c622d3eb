import type { Path } from '../../../src/json/index.js';
import type { Span } from './inspection.js';

/** Everything between tokens: white space, commas and comments. A comment is short, or a lone mark would cost a walk to the end. */
const FILLER = /(?:[\s,]+|\/\/[^\n]*|\/\*[^]{0,200}?\*\/)*/y;
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'/y;
const BARE = /[^\s,:{}[\]"']+/y;

/**
 * The span of the value at a path: for an object member its value, without the key. Null where the text is too broken to
 * locate it (quotes inside strings, missing colons); a caller that must be certain compares the text of the span.
 *
 * @example
 * locatePath('{"a": [1, 23]}', 0, ['a', 1]) // { start: 10, end: 12 }
 */
export function locatePath(text: string, from: number, path: Path): Span | null {
  const walker = new TokenWalker(text, from);
  for (const step of path) {
    if (!walker.enter(step)) return null;
  }
  return walker.takeValue();
}

class TokenWalker {
  readonly #text: string;
  #at: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  /** Goes to the value of a key or to an element; false if it is missing or cannot be located. */
  enter(step: string | number): boolean {
    this.#skip(FILLER);
    const open = this.#text[this.#at];
    if (open !== '{' && open !== '[') return false;
    this.#at += 1;
    // The last of two equal keys counts.
    let found: number | null = null;
    for (let index = 0; ; index += 1) {
      this.#skip(FILLER);
      const next = this.#text[this.#at];
      if (next === undefined || next === '}' || next === ']') break;
      if (open === '{') {
        const key = this.#takeKey();
        if (key === null) return false;
        if (key === String(step)) found = this.#at;
      } else if (index === Number(step)) {
        return true;
      }
      if (this.takeValue() === null) break;
    }
    if (found === null) return false;
    this.#at = found;
    return true;
  }

  /** The span of the value that begins here; an open container reaches to the end of the text. */
  takeValue(): Span | null {
    this.#skip(FILLER);
    const start = this.#at;
    let depth = 0;
    do {
      const character = this.#text[this.#at];
      if (character === undefined) return start === this.#at ? null : { start, end: this.#at };
      if (character === '{' || character === '[') depth += 1;
      else if (character === '}' || character === ']') depth -= 1;
      if (depth < 0) return null;
      if (character === '"' || character === "'") {
        if (!this.#skip(STRING)) return null;
      } else if (!/[{}[\]:]/.test(character) && this.#skip(BARE)) {
        // The word was skipped.
      } else {
        this.#at += 1;
      }
      if (depth > 0) this.#skip(FILLER);
    } while (depth > 0);
    return { start, end: this.#at };
  }

  #takeKey(): string | null {
    const start = this.#at;
    if (!this.#skip(STRING) && !this.#skip(BARE)) return null;
    const written = this.#text.slice(start, this.#at);
    this.#skip(FILLER);
    if (this.#text[this.#at] !== ':') return null;
    this.#at += 1;
    return readKey(written);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }
}

function readKey(written: string): string {
  if (!written.startsWith('"')) return written.replace(/^'([^]*)'$/, '$1');
  try {
    return String(JSON.parse(written));
  } catch {
    return written.slice(1, -1);
  }
}

/**
 * A place in a text as editors show it, both counted from 1.
 *
 * @example
 * lineAndColumn('a\nbc', 3) // 'line 2, column 2'
 */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}
