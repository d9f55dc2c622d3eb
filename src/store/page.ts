import type { Listed } from '../orders/index.js';
import { invalidCursor } from './store-error.js';

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
function readPageSize(limit: number = DEFAULT_SIZE): number {
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

/** A place in the order in which runs ended. Many end in the same millisecond: then the older record is first. */
export interface EndPlace {
  readonly endedAt: number;
  readonly sequence: number;
}

/** Where a page of ended runs begins, and how long it may be; the cursor is checked, because it has been outside. */
export function readEndPage(page: { readonly since: number; readonly cursor?: string; readonly limit?: number }): {
  readonly after: EndPlace;
  readonly size: number;
} {
  const size = readPageSize(page.limit);
  if (page.cursor === undefined) return { size, after: { endedAt: Math.trunc(page.since), sequence: -1 } };
  const [, endedAt, sequence] = /^(\d{1,15})\.(\d{1,15})$/.exec(page.cursor) ?? [];
  if (endedAt === undefined || sequence === undefined) throw invalidCursor();
  return { size, after: { endedAt: Number(endedAt), sequence: Number(sequence) } };
}

/** The place as a cursor. */
export function endCursor({ endedAt, sequence }: EndPlace): string {
  return `${endedAt}.${sequence}`;
}

/** A place in the order of executions: by time, and of those in the same millisecond by when they were written. */
export interface ExecutionPlace {
  readonly at: string;
  readonly sequence: number;
}

/** Which executions a page asks for, newest first. */
export interface ExecutionWindow {
  readonly size: number;
  /** The last one seen; null where the page begins with the newest that is wanted. */
  readonly after: ExecutionPlace | null;
  /** Only those before this moment; null where `after` says so already: of two bounds a database may walk the wrong one. */
  readonly until: string | null;
}

/** Reads what a caller asks for; the cursor is checked, because it has been outside. */
export function readExecutionPage(page: {
  readonly limit?: number;
  readonly cursor?: string;
  readonly until?: string;
}): ExecutionWindow {
  const size = readPageSize(page.limit);
  const until = page.until ?? null;
  if (page.cursor === undefined) return { size, after: null, until };
  const [, at, sequence] = /^([0-9TZ:.-]{1,40})~(\d{1,15})$/.exec(page.cursor) ?? [];
  if (at === undefined || sequence === undefined) throw invalidCursor();
  return until !== null && at >= until
    ? { size, after: null, until }
    : { size, after: { at, sequence: Number(sequence) }, until: null };
}

/** The place as a cursor. */
export function executionCursor({ at, sequence }: ExecutionPlace): string {
  return `${at}~${sequence}`;
}

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
