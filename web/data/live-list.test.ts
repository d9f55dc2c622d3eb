import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choosePollDelay, mergeHead, appendPage } from './resource.js';
import type { LiveList, Page } from './resource.js';

interface Row {
  readonly id: number;
  readonly state: string;
}

const getKey = (row: Row): string => String(row.id);
const row = (id: number, state = 'running'): Row => ({ id, state });
const rows = (...ids: readonly number[]): readonly Row[] => ids.map((id) => row(id));
const page = (items: readonly Row[], next: string | null = 'older'): Page<Row> => ({ items, next_cursor: next });
const list = (items: readonly Row[], next: string | null = 'oldest'): LiveList<Row> => ({ items, next, newCount: 0 });
const ids = ({ items }: LiveList<Row>): readonly number[] => items.map(({ id }) => id);
const live = { hold: false };
const paused = { hold: true };

test('the first page is the list', () => {
  expect(mergeHead(null, page(rows(2, 1), null), getKey, live)).toEqual({ items: rows(2, 1), next: null, newCount: 0 });
});

test('new items come first, and loaded items and the next cursor stay', () => {
  const merged = mergeHead(list(rows(5, 4, 3, 2, 1)), page(rows(7, 6, 5, 4)), getKey, live);
  expect(ids(merged)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(merged.next).toBe('oldest');
});

test('a changed item is replaced, even while new items are held back', () => {
  const updatedPage = page([row(2, 'ended'), row(1)]);
  for (const options of [live, paused]) {
    expect(mergeHead(list(rows(2, 1)), updatedPage, getKey, options).items).toEqual([row(2, 'ended'), row(1)]);
  }
});

test('a removed item disappears, even while new items are held back', () => {
  for (const options of [live, paused]) {
    expect(ids(mergeHead(list(rows(5, 4, 3, 2)), page(rows(5, 3)), getKey, options))).toEqual([5, 3, 2]);
  }
});

test('while new items are held back, they are counted and no row moves', () => {
  const merged = mergeHead(list(rows(3, 2, 1)), page(rows(5, 4, 3, 2)), getKey, paused);
  expect(ids(merged)).toEqual([3, 2, 1]);
  expect(merged.newCount).toBe(2);
  expect(ids(mergeHead(merged, page(rows(5, 4, 3, 2)), getKey, live))).toEqual([5, 4, 3, 2, 1]);
});

test('an item that has moved to the head is listed once', () => {
  expect(ids(mergeHead(list(rows(1, 2, 3, 4, 5)), page(rows(4, 1, 2)), getKey, live))).toEqual([4, 1, 2, 3, 5]);
});

test('older rows are dropped if the new head does not overlap them', () => {
  expect(mergeHead(list(rows(2, 1)), page(rows(9, 8)), getKey, live)).toEqual({
    items: rows(9, 8),
    next: 'older',
    newCount: 0,
  });
});

test('a head that is the complete list removes everything below it', () => {
  expect(ids(mergeHead(list(rows(3, 2, 1)), page(rows(3), null), getKey, live))).toEqual([3]);
  expect(ids(mergeHead(list(rows(3, 2, 1)), page([], null), getKey, live))).toEqual([]);
});

test('an older page is added without duplicates', () => {
  const merged = appendPage(list(rows(5, 4)), page(rows(4, 3), null), getKey);
  expect(ids(merged)).toEqual([5, 4, 3]);
  expect(merged.next).toBeNull();
});

test('the list has no gaps and starts with the newest item, in any order of new items and older pages', () => {
  const step = fc.oneof(
    fc.record({ added: fc.integer({ min: 1, max: 12 }) }),
    fc.constant('more' as const),
    fc.constant('held' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let newest = 10;
      const from = (id: number, count: number): Page<Row> => {
        const items = Array.from({ length: Math.max(0, Math.min(count, id)) }, (_, index) => row(id - index));
        return page(items, id > count ? String(id - count) : null);
      };
      let known: LiveList<Row> = mergeHead(null, from(newest, 5), getKey, live);
      for (const current of steps) {
        if (current === 'more') {
          if (known.next !== null) known = appendPage(known, from(Number(known.next), 5), getKey);
        } else {
          newest += current === 'held' ? 1 : current.added;
          known = mergeHead(known, from(newest, 5), getKey, { hold: current === 'held' });
        }
        const [first] = known.items;
        expect(ids(known)).toEqual(known.items.map((_, index) => (first?.id ?? 0) - index));
        const isShown = current === 'held' || current === 'more' || first?.id === newest;
        expect(isShown).toBe(true);
      }
    }),
  );
});

test('polls less often a minute after the last input', () => {
  expect(choosePollDelay(60_000)).toBe(2000);
  expect(choosePollDelay(60_001)).toBe(10_000);
  expect(choosePollDelay(60_001, 30_000)).toBe(30_000);
});
