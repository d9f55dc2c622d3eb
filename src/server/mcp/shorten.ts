import { cutText } from '../../base/index.js';

/** A shortened value, and whether anything was omitted. */
export interface Shortened {
  readonly value: unknown;
  readonly isShortened: boolean;
}

/** Deeper values are replaced with null; events are never this deep. */
const MAX_DEPTH = 64;

/**
 * Shortens every string in a JSON value to `length` characters and every list and object to `items` entries, so one
 * event does not fill a model's context.
 *
 * @example
 * shorten({ text: 'abcdef' }, { length: 3, items: 10 }) // { value: { text: 'abc…' }, isShortened: true }
 */
export function shorten(
  value: unknown,
  { length, items }: { readonly length: number; readonly items: number },
): Shortened {
  let isShortened = false;
  const visit = (part: unknown, depth: number): unknown => {
    if (typeof part === 'string') {
      if (part.length <= length) return part;
      isShortened = true;
      return `${cutText(part, length)}…`;
    }
    if (typeof part !== 'object' || part === null) return part;
    if (depth >= MAX_DEPTH) {
      isShortened = true;
      return null;
    }
    if (Array.isArray(part)) {
      if (part.length > items) isShortened = true;
      return part.slice(0, items).map((item) => visit(item, depth + 1));
    }
    const entries = Object.entries(part);
    if (entries.length > items) isShortened = true;
    return Object.fromEntries(entries.slice(0, items).map(([key, item]) => [key, visit(item, depth + 1)]));
  };
  return { value: visit(value, 0), isShortened };
}
