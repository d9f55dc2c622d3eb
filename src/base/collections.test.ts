import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFirstIndex, groupBy, setLatest } from './collections.js';

test('findFirstIndex finds the same index as a linear search', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: 0, max: 20 }), (numbers, bound) => {
      const sorted = numbers.toSorted((one, other) => one - other);
      const found = sorted.findIndex((number) => number > bound);
      expect(findFirstIndex(sorted, (number) => number > bound)).toBe(found === -1 ? sorted.length : found);
    }),
  );
});

test('groupBy keeps the order of keys and of values', () => {
  const groups = groupBy(['pear', 'apple', 'plum', 'avocado'], (fruit) => fruit[0]);
  expect([...groups]).toEqual([
    ['p', ['pear', 'plum']],
    ['a', ['apple', 'avocado']],
  ]);
});

test('setLatest removes the key that was set first', () => {
  const map = new Map<string, number>();
  for (const key of ['a', 'b', 'a', 'c']) setLatest(map, 2, key, map.size);
  expect([...map.keys()]).toEqual(['a', 'c']);
});
