import { describe, expect, it, test } from 'vitest';
import fc from 'fast-check';
import { cutText, findNearestName, truncate, formatInvisible, INVISIBLE_CHARACTERS } from './text.js';

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

describe('findNearestName', () => {
  const known = ['engine', 'prompt', 'max_retries', 'workdir', 'env'];
  it.each([
    ['promt', 'prompt'],
    ['maxRetries', 'max_retries'],
    ['max-retry', 'max_retries'],
    ['WorkDir', 'workdir'],
    ['envs', 'env'],
    ['schema', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('for %s: %s', (name, expected) => {
    expect(findNearestName(name, known)).toBe(expected);
  });
});

const markInvisible = (text: string): string =>
  text.replaceAll(INVISIBLE_CHARACTERS, (character) => `<${formatInvisible(character)}>`);

describe('INVISIBLE_CHARACTERS', () => {
  test.each([
    ['a terminal escape', '\u001B[31mred', '<␛>[31mred'],
    ['delete and a C1 control', '\u007F\u009B', '<␡><U+009B>'],
    ['a carriage return', 'good\rbad', 'good<␍>bad'],
    ['a direction override', 'user\u202Egpj.exe', 'user<U+202E>gpj.exe'],
    ['an isolate', '\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['an Arabic letter mark', 'a\u061Cb', 'a<U+061C>b'],
    ['a zero-width space in a name', 'pay\u200Bpal', 'pay<U+200B>pal'],
    ['a joiner in a name', 'pay\u200Dpal\u200C', 'pay<U+200D>pal<U+200C>'],
    ['a soft hyphen', 'pass\u00ADword', 'pass<U+00AD>word'],
    ['a blank letter', 'a\u3164b\uFFA0', 'a<U+3164>b<U+FFA0>'],
    ['a hidden tag', 'a\u{E0041}b', 'a<U+E0041>b'],
    ['bytes hidden as variations', '😀\u{E0101}\u{E0102}', '😀<U+E0101><U+E0102>'],
    ['a variation of a letter', 'a\uFE0Fb', 'a<U+FE0F>b'],
    ['a joiner after a hidden variation', 'a\uFE0F\u200D👩', 'a<U+FE0F><U+200D>👩'],
    ['a second variation', '❤\uFE0F\uFE0F', '❤\uFE0F<U+FE0F>'],
    ['a line separator', 'a\u2028b', 'a<U+2028>b'],
    ['half a surrogate pair', 'a\uD800b', 'a<U+D800>b'],
    ['an annotation', '\uFFF9x\uFFFB', '<U+FFF9>x<U+FFFB>'],
  ])('matches %s', (_what, text, expected) => {
    expect(markInvisible(text)).toBe(expected);
  });

  test.each([
    ['tabs and line feeds', 'a\tb\nc'],
    ['spaces used by other languages', 'a\u00A0b\u202Fc\u3000d'],
    ['an emoji composed of several', '👩‍💻 👨‍👩‍👧 🏳️‍🌈 🤷🏽‍♀️'],
    ['an emoji with a variation selector', '❤️ ☎︎ 1️⃣ #️⃣'],
    ['a Persian word', 'می‌خواهم'],
    ['a Hindi word', 'क्‍ष'],
    ['a variant of an ideograph', '葛\u{E0100}'],
    ['accents', 'e\u0301'],
  ])('does not match %s', (_what, text) => {
    expect(markInvisible(text)).toBe(text);
  });

  test('finds every control character and every change of direction, at any position', () => {
    // Any code points, including lone surrogates; `fc.string` of them takes seconds to set up.
    const anyText = fc.array(fc.integer({ min: 0, max: 0x10_ff_ff })).map((codes) => String.fromCodePoint(...codes));
    const disguisingCharacter = fc.constantFrom('\u001B', '\u0000', '\u202E', '\u2067', '\u200B', '\u{E0041}');
    fc.assert(
      fc.property(anyText, disguisingCharacter, anyText, (before, disguise, after) => {
        const marked = markInvisible(before + disguise + after);
        expect(marked).toContain(`<${formatInvisible(disguise)}>`);
        // oxlint-disable-next-line no-control-regex -- the test looks for control characters
        expect(marked).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
      }),
    );
  });
});
