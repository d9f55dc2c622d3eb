import type { Reading } from '../reader/read-value.js';
import { isContainer } from '../limits.js';
import { BracketWalker, nextBracket } from './bracket-walker.js';
import type { Region } from './survey.js';

/** What kind of value a bracket may begin: checked before a reader is set to work, because prose is full of brackets. */
const MAY_BEGIN =
  /\{\s{0,99}(?:["'“‘`,}/#\\]|[\p{L}\p{N}_$@][^\n:：{}]{0,99}[:：])|\[\s{0,99}(?:["'“‘`{[\]\d,/#.\p{L}-])/uy;
const COST_OF_TRY = 16;

/** Characters that may be read before a search is given up: values may overlap, and reading each to its end is not linear. */
export function readingBudget({ length }: string): number {
  return 4 * length + 65_536;
}

/** A value found in running text. */
export interface ProseValue extends Region {
  readonly reading: Reading;
}

/**
 * Values in running text, first first: objects before arrays, because `[1]` in prose is seldom the answer. `strict`: no
 * schema will tell an answer from prose, so empty brackets, subscripts and citations are not taken for values. What
 * stands inside a value is not looked at again, even if the value cannot be read: a part would pass for the whole.
 */
export function findProseValues(
  text: string,
  regions: readonly Region[],
  most: number,
  strict: boolean,
  read: (start: number, end: number) => Reading,
): readonly ProseValue[] {
  const objects: ProseValue[] = [];
  const arrays: ProseValue[] = [];
  let budget = readingBudget(text);
  for (const region of regions) {
    let at = nextBracket(text, region.start, region.end);
    while (at !== -1 && objects.length < most && budget > 0) {
      const [next, seen, value] = readAt(text, at, region.end, strict, read);
      // Counted apart: any number of `[INFO]` and `[1]` must not hide the one object.
      const found = text[at] === '[' ? arrays : objects;
      if (value !== undefined && found.length < most) found.push(value);
      budget -= seen - at + COST_OF_TRY;
      at = next === -1 ? -1 : nextBracket(text, next, region.end);
    }
  }
  return [...objects, ...arrays];
}

/** The offset to go on from (-1: the rest belongs to this value), how far was looked, and the value, if there is one. */
function readAt(
  text: string,
  start: number,
  limit: number,
  strict: boolean,
  read: (start: number, end: number) => Reading,
): readonly [next: number, seen: number, value?: ProseValue | undefined] {
  MAY_BEGIN.lastIndex = start;
  if (!MAY_BEGIN.test(text)) return [start + 1, start];
  const reading = read(start, limit);
  if (reading.ok) {
    const value = strict && isNoAnswer(text, start, reading.value) ? undefined : { start, end: reading.end, reading };
    return [reading.end, reading.end, value];
  }
  // What begins with a quote is a value, even if it ends before its first colon.
  if (!reading.plausible && !/^.\s{0,64}["']/.test(text.slice(start, start + 99))) return [start + 1, reading.end];
  const end = reading.failure.code === 'SYNTAX' ? new BracketWalker(text, start).findEnd(limit) : -1;
  // What goes on behind it, up to a blank line, is a part of it too.
  const next = /^[\s}\]]*,\s*["'{[]/.test(text.slice(end, end + 99)) ? text.indexOf('\n\n', end) : end;
  return [next, Math.max(reading.end, end), { start, end: end === -1 ? limit : end, reading }];
}

/** `{}`, `a[0]` and `[1, 2]` in the middle of a sentence. Behind a colon, or at the beginning of a line, they are answers. */
function isNoAnswer(text: string, start: number, value: unknown): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  const isArray = Array.isArray(value);
  if (isArray && /[\w)\]]$/.test(before)) return true;
  const items: unknown[] = isContainer(value) ? Object.values(value) : [];
  const says = items.length > 0 && !(isArray && items.every((item) => typeof item === 'number'));
  return !says && !/(?:[:：=]|^|\n)[ \t]*$/.test(before);
}
