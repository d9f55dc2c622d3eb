import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { showLine, showText } from './plain-text.js';

describe('showText', () => {
  test('leaves letters, tabs and line breaks unchanged', () => {
    expect(showText('Größe\t漢字 👩‍💻\nnext', 100)).toBe('Größe\t漢字 👩‍💻\nnext');
  });

  test.each([
    ['an escape', '\u001B[2J', '\\u{1b}[2J'],
    ['a C1 escape', '\u009B2J', '\\u{9b}2J'],
    ['a direction mark', 'a\u202Eb', 'a\\u{202e}b'],
    ['an isolate', 'a\u2066b', 'a\\u{2066}b'],
    ['a zero-width character', 'a\u200Bb', 'a\\u{200b}b'],
    ['a hidden tag character', 'a\u{E0041}b', 'a\\u{e0041}b'],
    ['half a surrogate pair', 'a\uD800b', 'a\\u{d800}b'],
    ['NUL', 'a\0b', 'a\\u{0}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a carriage return', 'a\rb\r\nc', 'a\nb\nc'],
  ])('makes %s visible', (_, text, expected) => {
    expect(showText(text, 100)).toBe(expected);
  });

  test('truncates long text between characters, and reports how much is missing', () => {
    expect(showText('abcdef', 4)).toBe('abcd… (2 more characters)');
    expect(showText('abc👍def', 4)).toBe('abc… (5 more characters)');
  });
});

describe('showLine', () => {
  test('puts everything on one line', () => {
    expect(showLine('  a\n## b\r\n\tc  ', 100)).toBe('a ## b c');
  });

  test('ends in an ellipsis if text is omitted, even after many spaces', () => {
    expect(showLine('abcdef', 4)).toBe('abcd…');
    expect(showLine(`a${' '.repeat(100)}b`, 4)).toBe('a…');
    expect(showLine(`a${' '.repeat(100)}`, 4)).toBe('a');
  });

  test('returns one line of bounded length for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (text, length) => {
        const line = showLine(text, length);
        // An escape sequence has at most nine characters.
        expect(line.length).toBeLessThanOrEqual(length * 9 + 1);
        // oxlint-disable-next-line no-control-regex
        expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E]/);
      }),
    );
  });
});
