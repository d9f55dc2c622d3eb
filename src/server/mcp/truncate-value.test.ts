import { describe, expect, it } from 'vitest';
import { truncateValue } from './run-report.js';

const limits = { length: 3, items: 2 };

describe('truncateValue', () => {
  it('leaves a small value unchanged', () => {
    const value = { text: 'abc', list: [1, null], deep: { is: true } };
    expect(truncateValue(value, { length: 3, items: 3 })).toEqual({ value, isTruncated: false });
  });

  it.each([
    ['a long string', 'abcd', 'abc…'],
    ['a long string in an object', { a: ['abcdef'] }, { a: ['abc…'] }],
    ['a long list', [1, 2, 3], [1, 2]],
    ['an object with many keys', { a: 1, b: 2, c: 3 }, { a: 1, b: 2 }],
  ])('truncates %s', (_, value, expected) => {
    expect(truncateValue(value, limits)).toEqual({ value: expected, isTruncated: true });
  });

  it('never splits a character', () => {
    expect(truncateValue('ab😀', limits)).toEqual({ value: 'ab…', isTruncated: true });
  });

  it('limits the depth of a value', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
    expect(truncateValue(deep, limits).isTruncated).toBe(true);
  });
});
