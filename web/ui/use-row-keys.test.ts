import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextRow } from './row-table.js';

test('j starts at the first row, arrows only move within the rows', () => {
  expect(nextRow('j', -1, 3)).toBe(0);
  expect(nextRow('ArrowDown', -1, 3)).toBeNull();
  expect(nextRow('ArrowDown', 0, 3)).toBe(1);
  expect(nextRow('End', 0, 3)).toBe(2);
  expect(nextRow('Home', 2, 3)).toBe(0);
});

test('other keys do not move, and no key moves in an empty list', () => {
  expect(nextRow('x', 1, 3)).toBeNull();
  expect(nextRow('j', -1, 0)).toBeNull();
});

test('no key moves out of the rows', () => {
  const key = fc.constantFrom('j', 'k', 'ArrowDown', 'ArrowUp', 'Home', 'End');
  fc.assert(
    fc.property(key, fc.integer({ min: 1, max: 5 }), fc.integer({ min: -1, max: 4 }), (pressed, count, from) => {
      const to = nextRow(pressed, Math.min(from, count - 1), count);
      expect(to === null || (to >= 0 && to < count)).toBe(true);
    }),
  );
});
