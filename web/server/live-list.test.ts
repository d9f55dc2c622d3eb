import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeHead, appendPage } from './live-list.js';
import type { LiveList, Page } from './live-list.js';

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
const now = { hold: false };
const held = { hold: true };

test('the first page is the list', () => {
  expect(mergeHead(null, page(rows(2, 1), null), getKey, now)).toEqual({ items: rows(2, 1), next: null, newCount: 0 });
});

test('new items come first, loaded ones stay, and so does the cursor of the next page', () => {
  const taken = mergeHead(list(rows(5, 4, 3, 2, 1)), page(rows(7, 6, 5, 4)), getKey, now);
  expect(ids(taken)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(taken.next).toBe('oldest');
});

test('a changed item is replaced, also while the list is held', () => {
  const changed = page([row(2, 'ended'), row(1)]);
  for (const how of [now, held]) {
    expect(mergeHead(list(rows(2, 1)), changed, getKey, how).items).toEqual([row(2, 'ended'), row(1)]);
  }
});

test('a removed item disappears, also while the list is held', () => {
  for (const how of [now, held]) {
    expect(ids(mergeHead(list(rows(5, 4, 3, 2)), page(rows(5, 3)), getKey, how))).toEqual([5, 3, 2]);
  }
});

test('while the list is held, new items are counted and no row moves', () => {
  const taken = mergeHead(list(rows(3, 2, 1)), page(rows(5, 4, 3, 2)), getKey, held);
  expect(ids(taken)).toEqual([3, 2, 1]);
  expect(taken.newCount).toBe(2);
  expect(ids(mergeHead(taken, page(rows(5, 4, 3, 2)), getKey, now))).toEqual([5, 4, 3, 2, 1]);
});

test('an item that has moved to the head is listed once', () => {
  expect(ids(mergeHead(list(rows(1, 2, 3, 4, 5)), page(rows(4, 1, 2)), getKey, now))).toEqual([4, 1, 2, 3, 5]);
});

test('drops the older rows when the new head does not overlap with them', () => {
  expect(mergeHead(list(rows(2, 1)), page(rows(9, 8)), getKey, now)).toEqual({
    items: rows(9, 8),
    next: 'older',
    newCount: 0,
  });
});

test('a head that is the complete list removes everything below it', () => {
  expect(ids(mergeHead(list(rows(3, 2, 1)), page(rows(3), null), getKey, now))).toEqual([3]);
  expect(ids(mergeHead(list(rows(3, 2, 1)), page([], null), getKey, now))).toEqual([]);
});

test('adds an older page without duplicates', () => {
  const taken = appendPage(list(rows(5, 4)), page(rows(4, 3), null), getKey);
  expect(ids(taken)).toEqual([5, 4, 3]);
  expect(taken.next).toBeNull();
});

test('the list equals the newest items of the server without gaps, in any order of new runs and pages', () => {
  const step = fc.oneof(
    fc.record({ come: fc.integer({ min: 1, max: 12 }) }),
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
      let known: LiveList<Row> = mergeHead(null, from(newest, 5), getKey, now);
      for (const taken of steps) {
        if (taken === 'more') {
          if (known.next !== null) known = appendPage(known, from(Number(known.next), 5), getKey);
        } else {
          newest += taken === 'held' ? 1 : taken.come;
          known = mergeHead(known, from(newest, 5), getKey, { hold: taken === 'held' });
        }
        const [first] = known.items;
        expect(ids(known)).toEqual(known.items.map((_, index) => (first?.id ?? 0) - index));
        const isShown = taken === 'held' || taken === 'more' || first?.id === newest;
        expect(isShown).toBe(true);
      }
    }),
  );
});
