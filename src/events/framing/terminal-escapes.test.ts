import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOriginalCursor, stripEscapes } from './decode-line.js';

describe('escape sequences', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['cursor and modes', '\u001b[?25hx\u001b[2K\u001b[1G', 'x'],
    ['titles', '\u001b]0;title\u0007x', 'x'],
    ['links', '\u001b]8;;http://a\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['device strings', '\u001bP1$r0m\u001b\\x', 'x'],
    ['character sets', '\u001b(Bx', 'x'],
    ['single bytes', '\u009b31mred', 'red'],
    ['none at all', 'plain [31m', 'plain [31m'],
  ])('are removed: %s', (_, text, plain) => {
    expect(stripEscapes(text).text).toBe(plain);
  });

  it('keep the text after them if they have no end', () => {
    expect(stripEscapes('\u001b]0;torn {"a":1}').text).toBe('0;torn {"a":1}');
  });

  it('do not affect the original position of a character', () => {
    const arbitraryParts = fc.array(fc.constantFrom('a', 'b', '\u001b[0m', '\u001b]0;t\u0007'), { maxLength: 12 });
    fc.assert(
      fc.property(arbitraryParts, (parts) => {
        const text = parts.join('');
        const plain = stripEscapes(text);
        const toOriginal = createOriginalCursor(plain);
        expect([...plain.text].map((_, index) => text[toOriginal(index)])).toEqual([...plain.text]);
      }),
    );
  });
});
