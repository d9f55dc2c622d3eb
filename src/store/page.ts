import type { Listed } from '../orders/index.js';
import { createCursorError } from './store-error.js';

const DEFAULT_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

/** The rows of a page: those after `after`, at most `size`. */
export interface PageWindow {
  readonly size: number;
  /** The sequence number of the last row seen; null for the first page. */
  readonly after: number | null;
}

/** Reads a page request. The cursor is validated, because it is untrusted. */
export function readPage(page: { readonly limit?: number; readonly cursor?: string }): PageWindow {
  const size = readPageSize(page.limit);
  if (page.cursor === undefined) return { size, after: null };
  if (!/^[0-9]{1,15}$/.test(page.cursor)) throw createCursorError();
  return { size, after: Number(page.cursor) };
}

/** Returns the requested page size, limited to the allowed range. */
function readPageSize(limit: number = DEFAULT_SIZE): number {
  return Math.max(1, Math.min(MAX_PAGE_SIZE, Math.trunc(limit) || 1));
}

/** Creates a page from up to one row more than requested: the extra row shows that there is a next page. */
export function toListed<Row, T>(
  rows: readonly Row[],
  { size }: Pick<PageWindow, 'size'>,
  read: (row: Row) => T,
  formatCursor: (row: Row) => string | number,
): Listed<T> {
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  return { items: shown.map(read), next_cursor: last === undefined ? null : String(formatCursor(last)) };
}

/** A position in the order in which runs ended. Of runs that ended in the same millisecond, the older record comes first. */
export interface EndPosition {
  readonly endedAt: number;
  readonly sequence: number;
}

/** Reads the start and the size of a page of ended runs. The cursor is validated, because it is untrusted. */
export function readEndPage(page: { readonly since: number; readonly cursor?: string; readonly limit?: number }): {
  readonly after: EndPosition;
  readonly size: number;
} {
  const size = readPageSize(page.limit);
  if (page.cursor === undefined) return { size, after: { endedAt: Math.trunc(page.since), sequence: -1 } };
  const [, endedAt, sequence] = /^(\d{1,15})\.(\d{1,15})$/.exec(page.cursor) ?? [];
  if (endedAt === undefined || sequence === undefined) throw createCursorError();
  return { size, after: { endedAt: Number(endedAt), sequence: Number(sequence) } };
}

/** Formats a position as a cursor. */
export function formatEndCursor({ endedAt, sequence }: EndPosition): string {
  return `${endedAt}.${sequence}`;
}

/** A position in the order of executions: by time, then by insertion. */
export interface ExecutionPosition {
  readonly at: string;
  readonly sequence: number;
}

/** The executions of a page, newest first. */
export interface ExecutionWindow {
  readonly size: number;
  /** The last execution of the previous page; null on the first page. */
  readonly after: ExecutionPosition | null;
  /** Only executions before this time; null if `after` is the earlier bound: with two bounds a database may use the wrong index range. */
  readonly until: string | null;
}

/** Reads a page request. The cursor is validated, because it is untrusted. */
export function readExecutionPage(page: {
  readonly limit?: number;
  readonly cursor?: string;
  readonly until?: string;
}): ExecutionWindow {
  const size = readPageSize(page.limit);
  const until = page.until ?? null;
  if (page.cursor === undefined) return { size, after: null, until };
  const [, at, sequence] = /^([0-9TZ:.-]{1,40})~(\d{1,15})$/.exec(page.cursor) ?? [];
  if (at === undefined || sequence === undefined) throw createCursorError();
  return until !== null && at >= until
    ? { size, after: null, until }
    : { size, after: { at, sequence: Number(sequence) }, until: null };
}

/** Formats a position as a cursor. */
export function formatExecutionCursor({ at, sequence }: ExecutionPosition): string {
  return `${at}~${sequence}`;
}

/** The maximum number of rows that one page of a search reads, so that it is fast even if few of them match. */
export const SEARCH_WINDOW = 10_000;

/** Greater than every sequence number. */
export const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;

/**
 * Creates a page of matches. `floor` is the last row that was read; undefined if no rows are left. A page may be short and
 * still have a next one.
 */
export function toSearchPage<Row, T>(
  rows: readonly Row[],
  page: PageWindow,
  floor: number | undefined,
  read: (row: Row) => T,
  readSequence: (row: Row) => number,
): Listed<T> {
  const listed = toListed(rows, page, read, readSequence);
  return listed.next_cursor === null && floor !== undefined ? { ...listed, next_cursor: String(floor) } : listed;
}
