import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeVisible } from './text.js';

const render = (text: string): string =>
  makeVisible(text)
    .map((piece) => (typeof piece === 'string' ? piece : `<${piece.shown}>`))
    .join('');

test('plain text is one unchanged fragment', () => {
  expect(makeVisible('line\n\tnext, 中文 👩‍💻')).toEqual(['line\n\tnext, 中文 👩‍💻']);
});

test.each([
  ['a terminal escape', '\u001b[31mred', '<␛>[31mred'],
  ['a direction override', 'abc\u202egnp.exe', 'abc<U+202E>gnp.exe'],
  ['an isolate', '\u2066x\u2069', '<U+2066>x<U+2069>'],
  ['a space without width in a name', 'pay\u200bpal', 'pay<U+200B>pal'],
  ['a tag character', 'a\u{e0041}b', 'a<U+E0041>b'],
  ['delete and a C1 control', '\u007f\u009b', '<␡><U+009B>'],
  ['a carriage return that would overwrite', 'good\rbad', 'good<␍>bad'],
])('%s is made visible', (_what, text, expected) => {
  expect(render(text)).toBe(expected);
});

test('a line can end with CR LF', () => {
  expect(makeVisible('a\r\nb')).toEqual(['a\r\nb']);
});

test('keeps every character, and makes control characters visible', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const pieces = makeVisible(text);
      const plain = pieces.filter((piece) => typeof piece === 'string');
      expect(plain.flatMap(makeVisible)).toEqual(plain);
      expect([...plain.join('')].length + pieces.length - plain.length).toBe([...text].length);
    }),
  );
});
