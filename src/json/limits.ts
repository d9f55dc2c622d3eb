import { MAX_SEARCH_DEPTH } from './bounds.js';
import type { Path } from './repair.js';

type Fields = Record<string, unknown>;

/** Whether the input takes more than `limit` bytes in UTF-8. Encodes it only if its length is inconclusive. */
export function exceedsBytes(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && new TextEncoder().encode(text).length > limit);
}

/**
 * Whether a double represents every number of a value exactly; undefined if the value is nested deeper than `limit`. A
 * single walk does both checks, because it is the largest cost of valid JSON after `JSON.parse`.
 */
export function examineNumbers(value: unknown, limit: number): boolean | undefined {
  let isExact = true;
  let level: unknown[] = [[value]];
  for (let depth = 0; level.length > 0 && depth <= limit; depth++) {
    const next: unknown[] = [];
    const visit = (part: unknown): void => {
      if (isContainer(part)) next.push(part);
      else if (isInexact(part)) isExact = false;
    };
    for (const container of level as Fields[])
      if (Array.isArray(container)) for (const item of container) visit(item);
      else for (const key in container) visit(container[key]);
    level = next;
  }
  return level.length > 0 ? undefined : isExact;
}

/**
 * Matches a number that a double might not represent exactly, also inside strings: most inputs have no match, and their
 * values are not searched. Four digits are written out because V8 then scans faster: `\d{16}` takes four times as long.
 */
const MANY_DIGITS = /\d(?:\d\d\d\d\d{11}|e\+?\d\d\d)/i;

/** Finds the path of the first inexact number of a value read from this text. */
export function findInexactNumber(value: unknown, text: string): Path | undefined {
  return MANY_DIGITS.test(text) ? findInside(value, MAX_SEARCH_DEPTH) : undefined;
}

/** The search is recursive, so it stops at `depth` levels. */
function findInside(value: unknown, depth: number): Path | undefined {
  if (isInexact(value)) return [];
  if (depth > 0 && isContainer(value))
    for (const key in value) {
      const path = findInside(value[key], depth - 1);
      if (path !== undefined) return [Array.isArray(value) ? Number(key) : key, ...path];
    }
  return undefined;
}

/** Whether a value is a number that a double might not represent exactly: infinite, or an integer beyond 2^53. */
function isInexact(value: unknown): boolean {
  return typeof value === 'number' && !(Math.abs(value) < 2 ** 53);
}

/** Whether a value is an object or an array. */
export function isContainer(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
