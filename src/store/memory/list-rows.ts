import type { Listed, Page } from '../../orders/index.js';
import { readPage, toListed } from '../page.js';
import { copyOf, type Row } from './tables.js';

/** One page of the rows that are wanted. */
export function listRows<R extends Row<unknown>, T>(
  rows: Iterable<R>,
  page: Page,
  order: 'newest' | 'oldest',
  isWanted: (row: R) => boolean,
  read: (row: R) => T,
): Listed<T> {
  const window = readPage(page);
  const direction = order === 'newest' ? -1 : 1;
  const { after } = window;
  const found = [...rows]
    .filter((row) => (after === null || (row.sequence - after) * direction > 0) && isWanted(row))
    .toSorted((left, right) => (left.sequence - right.sequence) * direction);
  return toListed(found, window, read, ({ sequence }) => sequence);
}

/** The record of a row, copied. */
export function readRecord<T>({ record }: Row<T>): T {
  return copyOf(record);
}
