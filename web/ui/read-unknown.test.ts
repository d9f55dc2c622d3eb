import { expect, test } from 'vitest';
import { isRecord, textOf } from './read-unknown.js';

test.each([
  [{}, true],
  [[], false],
  [null, false],
  ['a', false],
])('%j has named parts: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

test('only a text is a text', () => {
  expect([textOf('a'), textOf(7), textOf(null), textOf({ toString: () => 'a' })]).toEqual(['a', '', '', '']);
});
