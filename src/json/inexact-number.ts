import type { Path } from './repair.js';

/**
 * What such a number looks like in a text, also inside a string: most texts have none, and are not looked through. Four digits
 * one by one, since V8 skips through a text only by what is written so: `\d{16}` takes four times as long.
 */
const SUSPECT = /\d(?:\d\d\d\d\d{11}|[eE]\+?\d\d\d)/;

/**
 * The place of the first number that a double does not hold as it is in the text: one that is too large, and an integer beyond
 * 2^53. Digits of a fraction do not count.
 *
 * @example
 * findInexactNumber('{"id": 9007199254740993}', { id: 9007199254740992 }) // ['id']
 */
export function findInexactNumber(text: string, value: unknown): Path | undefined {
  return SUSPECT.test(text) ? search(value) : undefined;
}

function search(value: unknown): Path | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && isExact(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const path = search(item);
    if (path !== undefined) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}
