import type { Listed, Page } from '../../orders/index.js';
import { readPage, toListed } from '../page.js';
import { copyOf, type Row } from './tables.js';

/** One page of the records that are wanted. */
export function listRows<T>(
  rows: Iterable<Row<T>>,
  page: Page,
  order: 'newest' | 'oldest',
  isWanted: (record: T) => boolean,
): Listed<T> {
  const window = readPage(page);
  const direction = order === 'newest' ? -1 : 1;
  const { after } = window;
  const found = [...rows]
    .filter(({ sequence, record }) => (after === null || (sequence - after) * direction > 0) && isWanted(record))
    .toSorted((left, right) => (left.sequence - right.sequence) * direction);
  return toListed(
    found,
    window,
    ({ record }) => copyOf(record),
    ({ sequence }) => sequence,
  );
}
