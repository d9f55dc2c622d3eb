import type { Row } from './driver.js';
import type { ExecutionFilter, Listed, Page } from './ports/index.js';
import { readNumber } from './rows.js';
import { StoreError } from './store-error.js';

const DEFAULT_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

/** The maximum number of rows that one search page reads, so it is fast even if few of them match. */
export const SEARCH_WINDOW = 10_000;

/** Greater than every sequence number. */
export const MAX_SEQUENCE = Number.MAX_SAFE_INTEGER;

/** At most `size` rows after the number `after`; null for the first page. */
export function readPage({ limit, cursor }: Page): { readonly size: number; readonly after: number | null } {
  const [after] = readCursor(cursor, /^(\d{1,15})$/);
  return { size: readPageSize(limit), after: after === undefined ? null : Number(after) };
}

/** A position among rows ordered by a time, then by number. */
export type TimePosition = readonly [at: number, seq: number];

/** Parses a page request for rows ordered by a time. Of rows with the same millisecond, the older comes first. */
export function readTimePage({ limit, cursor, since }: Page & { readonly since: number }): {
  readonly size: number;
  readonly after: TimePosition;
} {
  const [at = Math.trunc(since), seq = -1] = readCursor(cursor, /^(\d{1,15})\.(\d{1,15})$/);
  return { size: readPageSize(limit), after: [Number(at), Number(seq)] };
}

/** Formats the cursor after a row of such a page. */
export function formatTimeCursor(row: Row, column: string): string {
  return `${readNumber(row, column)}.${readNumber(row, 'seq')}`;
}

/** Parses a page request for executions, newest first, before a time and after the last one of the previous page. */
export function readExecutionPage({ limit, cursor, until }: Page & Pick<ExecutionFilter, 'until'>) {
  const [at = until, seq = 0] = readCursor(cursor, /^([0-9TZ:.-]{1,40})~(\d{1,15})$/);
  const size = readPageSize(limit);
  if (at === undefined) return { size };
  return { size, before: until !== undefined && at >= until ? ([until, 0] as const) : ([at, Number(seq)] as const) };
}

/** Returns the requested page size, clamped to the allowed range. */
function readPageSize(limit: number = DEFAULT_SIZE): number {
  return Math.max(1, Math.min(MAX_PAGE_SIZE, Math.trunc(limit) || 1));
}

/** Splits a cursor, which is untrusted, into the groups of a pattern; empty for the first page. */
function readCursor(cursor: string | undefined, pattern: RegExp): readonly string[] {
  if (cursor === undefined) return [];
  const match = pattern.exec(cursor);
  if (match === null) throw new StoreError('INVALID_CURSOR', 'Invalid cursor. Start again without a cursor.');
  return match.slice(1);
}

/**
 * Creates a page from up to one more row than requested: the extra row means that a next page exists. `floor` is the
 * cursor after the last row that a search has read, if it has not read all.
 */
export function toListed<T>(
  rows: readonly Row[],
  size: number,
  read: (row: Row) => T,
  formatCursor: (row: Row) => string,
  floor: string | null = null,
): Listed<T> {
  const pageRows = rows.slice(0, size);
  const last = rows.length > size ? pageRows.at(-1) : undefined;
  return { items: pageRows.map(read), next_cursor: last === undefined ? floor : formatCursor(last) };
}
