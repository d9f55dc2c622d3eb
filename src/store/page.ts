import type { Listed } from './ports/index.js';
import { createCursorError } from './store-error.js';

const DEFAULT_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

/** A page: at most `size` rows after `after`. */
export interface PageWindow {
  readonly size: number;
  /** The sequence number of the last row seen; null for the first page. */
  readonly after: number | null;
}

/** Parses a page request. The cursor is validated, because it is untrusted. */
export function readPage(page: { readonly limit?: number; readonly cursor?: string }): PageWindow {
  const size = readPageSize(page.limit);
  if (page.cursor === undefined) return { size, after: null };
  if (!/^[0-9]{1,15}$/.test(page.cursor)) throw createCursorError();
  return { size, after: Number(page.cursor) };
}

/** Returns the requested page size, clamped to the allowed range. */
function readPageSize(limit: number = DEFAULT_SIZE): number {
  return Math.max(1, Math.min(MAX_PAGE_SIZE, Math.trunc(limit) || 1));
}

/** Creates a page from up to one more row than requested: the extra row means that a next page exists. */
export function toListed<Row, T>(
  rows: readonly Row[],
  { size }: Pick<PageWindow, 'size'>,
  read: (row: Row) => T,
  formatCursor: (row: Row) => string | number,
): Listed<T> {
  const pageRows = rows.slice(0, size);
  const last = rows.length > size ? pageRows.at(-1) : undefined;
  return { items: pageRows.map(read), next_cursor: last === undefined ? null : String(formatCursor(last)) };
}

/** A position among runs ordered by a time. Of runs with the same millisecond, the older record comes first. */
export interface EndPosition {
  readonly endedAt: number;
  readonly sequence: number;
}

/** Parses a page request for ended runs. The cursor is validated, because it is untrusted. */
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

export function formatEndCursor({ endedAt, sequence }: EndPosition): string {
  return `${endedAt}.${sequence}`;
}

/** A position among executions, which are ordered by time, then by insertion. */
export interface ExecutionPosition {
  readonly at: string;
  readonly sequence: number;
}

/** A page of executions, newest first. */
export interface ExecutionWindow {
  readonly size: number;
  /** The last execution of the previous page; null on the first page. */
  readonly after: ExecutionPosition | null;
  /** Only executions before this time; null if `after` is earlier: two bounds can choose the wrong index. */
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

export function formatExecutionCursor({ at, sequence }: ExecutionPosition): string {
  return `${at}~${sequence}`;
}

/** The maximum number of rows that one search page reads, so it is fast even if few of them match. */
export const SEARCH_WINDOW = 10_000;

/** Greater than every sequence number. */
export const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;

/** Creates a page of matches. `floor` is the last row that was read; undefined if none are left. */
export function toSearchPage<Row, T>(
  rows: readonly Row[],
  page: Pick<PageWindow, 'size'>,
  floor: string | number | undefined,
  read: (row: Row) => T,
  formatCursor: (row: Row) => string | number,
): Listed<T> {
  const listed = toListed(rows, page, read, formatCursor);
  return listed.next_cursor === null && floor !== undefined ? { ...listed, next_cursor: String(floor) } : listed;
}
