import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readStyles } from './ansi-text.js';

const E = '\u001B[';

describe('terminal styles', () => {
  test('become classes', () => {
    expect(readStyles(`${E}32m✓${E}0m done ${E}1;31mnow${E}22m.`)).toEqual([
      { text: '✓', style: 'ansi-2' },
      { text: ' done ', style: '' },
      { text: 'now', style: 'ansi-1 ansi-bold' },
      { text: '.', style: 'ansi-1' },
    ]);
  });

  test('of extended colours do not change the meaning of the codes after them', () => {
    expect(readStyles(`${E}38;5;2;1ma${E}0;38;2;1;2;3;3mb`)).toEqual([
      { text: 'a', style: 'ansi-2 ansi-bold' },
      { text: 'b', style: 'ansi-italic' },
    ]);
  });

  test('never hide text: concealed and inverse text is plain, and other escapes are kept', () => {
    expect(readStyles(`${E}8msecret${E}7mx${E}2Jy\u001B]8;;http://evil\u0007z`)).toEqual([
      { text: 'secret', style: '' },
      { text: `x${E}2Jy\u001B]8;;http://evil\u0007z`, style: '' },
    ]);
  });

  test('are limited in number, without losing text', () => {
    const text = `${E}31ma${E}32mb`.repeat(10_000);
    const styledRuns = readStyles(text);
    expect(styledRuns.length).toBeLessThan(2010);
    expect(styledRuns.map((one) => one.text).join('')).toBe('ab'.repeat(10_000));
  });

  test('are removed without losing a character', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(`${E}31m`, `${E}K`, `${E}0m`, `${E}2J`, '\u001B'),
    );
    fc.assert(
      fc.property(fc.array(piece), (styledRuns) => {
        const text = styledRuns.join('');
        // oxlint-disable-next-line no-control-regex
        const expected = text.replaceAll(/\u001b\[[0-9;:]{0,64}[mK]/g, '');
        expect(
          readStyles(text)
            .map((one) => one.text)
            .join(''),
        ).toBe(expected);
      }),
    );
  });
});
