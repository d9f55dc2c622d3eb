import type { Listed } from '../orders/index.js';
import { invalidCursor } from './refusals.js';

const DEFAULT_SIZE = 100;
const LARGEST_SIZE = 1000;

/** Which rows a page asks for: those behind `after`, at most `size`. */
export interface PageWindow {
  readonly size: number;
  /** The sequence number of the last row seen; null for the first page. */
  readonly after: number | null;
}

/** Reads what a caller asks for; the cursor is checked, because it has been outside. */
export function readPage(page: { readonly limit?: number; readonly cursor?: string }): PageWindow {
  const size = readPageSize(page.limit);
  if (page.cursor === undefined) return { size, after: null };
  if (!/^[0-9]{1,15}$/.test(page.cursor)) throw invalidCursor();
  return { size, after: Number(page.cursor) };
}

/** How long a page may be: what was asked for, within bounds. */
export function readPageSize(limit: number = DEFAULT_SIZE): number {
  return Math.max(1, Math.min(LARGEST_SIZE, Math.trunc(limit) || 1));
}

/** Makes a page of up to one row more than asked for: the one too many says that there is a next page. */
export function toListed<Row, T>(
  rows: readonly Row[],
  { size }: Pick<PageWindow, 'size'>,
  read: (row: Row) => T,
  cursorOf: (row: Row) => string | number,
): Listed<T> {
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  return { items: shown.map(read), next_cursor: last === undefined ? null : String(cursorOf(last)) };
}
