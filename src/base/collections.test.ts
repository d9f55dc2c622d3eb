import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFirstIndex } from './collections.js';

test('findFirstIndex finds the same index as a linear search', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: 0, max: 20 }), (numbers, bound) => {
      const sorted = numbers.toSorted((one, other) => one - other);
      const found = sorted.findIndex((number) => number > bound);
      expect(findFirstIndex(sorted, (number) => number > bound)).toBe(found === -1 ? sorted.length : found);
    }),
  );
});
