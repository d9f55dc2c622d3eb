import { writeBigint } from '../base/index.js';
import { MAX_SEARCH_DEPTH, WALK_DEPTH } from './bounds.js';
import type { Path } from './repair.js';

type Fields = Record<string, unknown>;

/**
 * Matches a number that a double might not represent exactly, also inside strings: most inputs have no match, and their
 * values are not searched. Four digits are written out because V8 then scans faster: `\d{16}` takes four times as long.
 */
const MANY_DIGITS = /\d(?:\d\d\d\d\d{11}|e\+?\d\d\d)/i;

/** The findings of {@link examineParts}. */
export interface Tally {
  /** Number of keys in all objects. */
  keys: number;
  /** Whether a double represents every number exactly. */
  isExact: boolean;
}

/**
 * Whether a double represents every number of a value exactly; undefined if the value is nested deeper than `limit`. A
 * single walk does both checks, because it is the largest cost of valid JSON after `JSON.parse`. A short text needs no
 * walk: it cannot be nested deeper, and rarely has a long number.
 */
export function examineNumbers(value: unknown, limit: number, text: string): boolean | undefined {
  if (text.length < 2 * limit && !MANY_DIGITS.test(text)) return true;
  const tally: Tally = { keys: 0, isExact: true };
  let level: object[] = [[value]];
  for (let depth = 0; level.length > 0 && depth <= limit; depth += WALK_DEPTH) {
    const deeper: object[] = [];
    for (const container of level) examineParts(container, Math.min(WALK_DEPTH - 1, limit - depth), tally, deeper);
    level = deeper;
  }
  return level.length > 0 ? undefined : tally.isExact;
}

/**
 * Walks through a container. Recursion is a third faster than a list of containers, but must not exhaust the stack:
 * containers more than `depth` levels down are added to `deeper`.
 */
export function examineParts(container: object, depth: number, tally: Tally, deeper: object[] = []): void {
  if (Array.isArray(container)) for (const item of container) examinePart(item, depth, tally, deeper);
  else
    for (const key in container) {
      tally.keys++;
      examinePart((container as Fields)[key], depth, tally, deeper);
    }
}

function examinePart(part: unknown, depth: number, tally: Tally, deeper: object[]): void {
  if (!isContainer(part)) {
    if (isInexact(part)) tally.isExact = false;
  } else if (depth > 0) examineParts(part, depth - 1, tally, deeper);
  else deeper.push(part);
}

/** Finds the path of the first inexact number of a value read from this text. */
export function findInexactNumber(value: unknown, text: string): Path | undefined {
  return MANY_DIGITS.test(text) ? findPath(value, isInexact, MAX_SEARCH_DEPTH) : undefined;
}

/**
 * Finds the path of the first string with a backspace or form feed before a letter: more likely a LaTeX command
 * (`\beta`) or a path (`\foo`) whose backslash should have been escaped.
 */
export function findSuspectEscape(value: unknown, text: string): Path | undefined {
  // A plain search is many times faster than a pattern.
  return text.includes('\\b') || text.includes('\\f') ? findPath(value, isSuspect, MAX_SEARCH_DEPTH) : undefined;
}

function isSuspect(part: unknown): boolean {
  return typeof part === 'string' && /[\b\f][a-z]/i.test(part);
}

/** The search is recursive, so it stops at `depth` levels. */
function findPath(value: unknown, matches: (part: unknown) => boolean, depth: number): Path | undefined {
  if (matches(value)) return [];
  if (depth > 0 && isContainer(value))
    for (const key in value) {
      const path = findPath(value[key], matches, depth - 1);
      if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
    }
  return undefined;
}

/** Whether a value is a number that a double might not represent exactly: infinite, or an integer beyond 2^53. */
export function isInexact(value: unknown): boolean {
  return typeof value === 'number' && !(Math.abs(value) < 2 ** 53);
}

/** Whether a value is an object or an array. */
export function isContainer(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Serializes equal values to the same string, regardless of key order. */
export function serialize(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isContainer(part) && !Array.isArray(part)
      ? Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1))
      : writeBigint(_, part),
  );
}

/** Whether two values differ and are of the same kind; a list of objects is of the same kind as an object. */
export function isAlternative(value: unknown, winner: unknown): boolean {
  const isSameKind = Array.isArray(value) === Array.isArray(winner) || [value, winner].flat().every(isContainer);
  return isSameKind && serialize(value) !== serialize(winner);
}
