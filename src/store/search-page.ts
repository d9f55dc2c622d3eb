import type { Listed } from '../orders/index.js';
import { toListed } from './page.js';
import type { PageWindow } from './page.js';

/** One page of a search looks at so many rows: it answers soon, however many there are and however few fit. */
export const SEARCH_WINDOW = 10_000;

/** Behind every row there is. */
export const BEYOND = Number.MAX_SAFE_INTEGER;

/**
 * A page of what was found down to the floor, the last row that was looked at; undefined if there is nothing behind it. It
 * may be short and still have a next one.
 */
export function toSearched<Row, T>(
  rows: readonly Row[],
  page: PageWindow,
  floor: number | undefined,
  read: (row: Row) => T,
  sequenceOf: (row: Row) => number,
): Listed<T> {
  const listed = toListed(rows, page, read, sequenceOf);
  return listed.next_cursor === null && floor !== undefined ? { ...listed, next_cursor: String(floor) } : listed;
}
