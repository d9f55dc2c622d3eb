import { describe, expect, it } from 'vitest';
import { cutText, truncate } from './cut-text.js';

describe('cutText', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ab😀', 3, 'ab'],
    ['ab😀', 4, 'ab😀'],
    ['a😀b', 3, 'a😀'],
    ['😀', 1, ''],
    ['a', 0, ''],
  ])('cuts %j to at most %i characters: %j', (text, length, expected) => {
    expect(cutText(text, length)).toBe(expected);
  });
});

it('truncate marks the omission, and never splits a character', () => {
  expect(truncate('abc', 3)).toBe('abc');
  expect(truncate('abcd', 3)).toBe('abc…');
  expect(truncate('ab😀', 3)).toBe('ab…');
});
