import { expect, test } from 'vitest';
import { isRecord, asText } from './read-unknown.js';

test.each([
  [{}, true],
  [[], false],
  [null, false],
  ['a', false],
])('%j has named parts: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

test('only a text is a text', () => {
  expect([asText('a'), asText(7), asText(null), asText({ toString: () => 'a' })]).toEqual(['a', '', '', '']);
});
