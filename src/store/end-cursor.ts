import { readPageSize } from './page.js';
import { invalidCursor } from './refusals.js';

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
