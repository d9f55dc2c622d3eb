import { expect, test } from 'vitest';
import { createRowHeights } from './list-viewport.js';
import fc from 'fast-check';

test('rows that were never measured have the estimated height', () => {
  const heights = createRowHeights(20);
  expect([heights.top(0), heights.top(10), heights.height(10)]).toEqual([0, 200, 20]);
  expect(heights.top(1_000_000)).toBe(20_000_000);
  expect(heights.at(20_000_000 - 1, 2_000_000)).toBe(999_999);
});

test('a measured row moves only the rows after it', () => {
  const heights = createRowHeights(20);
  expect(heights.measure(3, 50)).toBe(30);
  expect([heights.top(3), heights.top(4), heights.top(5)]).toEqual([60, 110, 130]);
  expect([heights.at(109, 10), heights.at(110, 10)]).toEqual([3, 4]);
});

test('a remeasured height counts once', () => {
  const heights = createRowHeights(20);
  heights.measure(3, 50);
  expect(heights.measure(3, 50)).toBe(0);
  expect(heights.measure(3, 25)).toBe(-25);
  expect(heights.top(4)).toBe(85);
});

test('a position outside the list is the first or the last row', () => {
  const heights = createRowHeights(20);
  expect([heights.at(-5, 10), heights.at(1e9, 10), heights.at(0, 0)]).toEqual([0, 9, 0]);
});

test('returns the same positions as a plain sum, in any order of measurements', () => {
  const row = fc.record({ index: fc.nat(5000), height: fc.integer({ min: 1, max: 400 }) });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.nat(5200), fc.nat(200_000), (rows, index, offset) => {
      const heights = createRowHeights(24);
      const plain = new Map<number, number>();
      for (const { index: at, height } of rows) {
        heights.measure(at, height);
        plain.set(at, height);
      }
      let sum = 0;
      let found = -1;
      let expectedTop = 0;
      for (let at = 0; at < 6000; at += 1) {
        if (at === index) expectedTop = sum;
        sum += plain.get(at) ?? 24;
        if (found === -1 && sum > offset) found = at;
      }
      expect(heights.top(index)).toBe(expectedTop);
      expect(heights.at(offset, 6000)).toBe(found === -1 ? 5999 : found);
    }),
  );
});
