import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toValueRows } from './inspection.js';

const format = (value: unknown, rows: number): string =>
  toValueRows(value, [], { rows, characters: 1_000_000 })
    .rows.map(({ depth, key, text }) => `${'  '.repeat(depth)}${key === null ? '' : `${key}: `}${text}`)
    .join('\n');

test('the rows of a value are the lines of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(format(value, 1_000_000)).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test('a long value has its first rows, and is marked as truncated', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.integer({ min: 1, max: 40 }), (value, limit) => {
      const lines = JSON.stringify(value, null, 2).split('\n');
      expect(format(value, limit).split('\n')).toEqual(lines.slice(0, limit));
      expect(toValueRows(value, [], { rows: limit, characters: 1_000_000 }).isTruncated).toBe(lines.length > limit);
    }),
  );
});

test('a very deep value is as long as allowed', () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 10_000; depth += 1) value = [value];
  expect(toValueRows(value, [], { rows: 100, characters: 10 })).toMatchObject({ isTruncated: true });
});
