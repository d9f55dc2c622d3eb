import { expect, it } from 'vitest';
import { lineAndColumn } from './line-and-column.js';

it.each([
  ['a\nbc', 0, 'line 1, column 1'],
  ['a\nbc', 3, 'line 2, column 2'],
  ['a\r\nb', 3, 'line 2, column 1'],
  ['abc', 9, 'line 1, column 10'],
])('%j at %d is %s', (text, offset, expected) => {
  expect(lineAndColumn(text, offset)).toBe(expected);
});
