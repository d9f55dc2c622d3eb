import { RUN_DEPTH, RUN_WINDOW, MIN_RUN_LENGTH, MIN_RUN_OFFSET, MIN_SEARCH_GAP, MAX_SEARCH_GAP } from '../bounds.js';
import { examineParts, type Tally } from '../limits.js';
import { PLAIN_CHARACTER, PLAIN_STRING, SCALAR } from './plain-token.js';

/** A number that a double might not represent exactly. A match inside a string costs only time. */
const LONG_NUMBER = /[\d.]{15}|\de/i;
const SPACE = '[ \\n\\r\\t]*';
/** List items made of plain tokens, with the commas between them. */
const RUN = new RegExp(`${createPattern(true, RUN_DEPTH)}+`, 'y');

/**
 * The pattern for an item or member with its comma. It must match only what the token reader accepts without repair.
 */
function createPattern(isItem: boolean, depth: number): string {
  const bracket = isItem ? '\\]' : '}';
  const string = isItem ? `${PLAIN_STRING}(?=${SPACE}(?:]|,${SPACE}"))` : PLAIN_STRING;
  const containers =
    depth === 0 ? '' : `|{${SPACE}${createPattern(false, depth - 1)}*}|\\[${SPACE}${createPattern(true, depth - 1)}*]`;
  const key = isItem ? '' : `"${PLAIN_CHARACTER}*"(?<!:.):${SPACE}`;
  return `(?:${key}(?:${string}|${SCALAR}${containers})${SPACE}(?:,${SPACE}(?!${bracket})|(?=${bracket}${SPACE}[,}\\]])))`;
}

/** List items that `JSON.parse` read together, and their length without the trailing comma. */
export interface PlainRun {
  readonly items: readonly unknown[];
  readonly length: number;
  /** Whether a double represents every number exactly. */
  readonly isExact: boolean;
}

/**
 * Reads the longest run that starts here; undefined if it is short or has a duplicate key or, with `keepsDigits`, if a
 * double might lose digits.
 */
export function readPlainRun(text: string, at: number, keepsDigits = false): PlainRun | undefined {
  RUN.lastIndex = 0;
  const window = text.slice(at, at + RUN_WINDOW);
  if (!RUN.test(window) || RUN.lastIndex < MIN_RUN_LENGTH) return undefined;
  const run = window.slice(0, RUN.lastIndex).trimEnd();
  const source = run.endsWith(',') ? run.slice(0, -1) : run;
  if (keepsDigits && LONG_NUMBER.test(source)) return undefined;
  const items = JSON.parse(`[${source}]`) as unknown[];
  let members = 0;
  // The count is too high if a string starts with a colon; the run is then read token by token. V8 searches `text` twice
  // as fast as a part of it.
  const last = at + source.lastIndexOf(':');
  for (let colon = at - 1; colon < last;) {
    colon = text.indexOf(':', colon + 1);
    if (text[colon - 1] === '"' && text[colon - 2] !== '\\') members++;
  }
  const tally: Tally = { keys: 0, isExact: true };
  examineParts(items, RUN_DEPTH, tally);
  return tally.keys === members ? { items, length: source.length, isExact: tally.isExact } : undefined;
}

/** Searches for runs, less and less often while it finds none. */
export class RunFinder {
  #from = MIN_RUN_OFFSET;
  #pause = MIN_SEARCH_GAP;

  find(text: string, at: number, keepsDigits: boolean): PlainRun | undefined {
    if (at < this.#from) return undefined;
    const run = readPlainRun(text, at, keepsDigits);
    this.#from = at + this.#pause;
    this.#pause = run ? MIN_SEARCH_GAP : Math.min(2 * this.#pause, MAX_SEARCH_GAP);
    return run;
  }
}
