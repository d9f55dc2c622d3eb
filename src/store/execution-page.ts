import { readPageSize } from './page.js';
import { invalidCursor } from './refusals.js';

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
