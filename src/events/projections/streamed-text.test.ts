import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStreamedTexts } from './projection.js';

test('a complete text adds what its chunks lack', () => {
  const texts = createStreamedTexts();
  texts.append('m', 'Hel');
  texts.append('n', 'Bye');
  expect(texts.finish('m', 'Hello')).toEqual({ rest: 'lo', diverged: false });
  expect(texts.finish('n', 'Bye')).toEqual({ rest: '', diverged: false });
});

test('text without chunks is reported in full, even under an id that was finished before', () => {
  const texts = createStreamedTexts();
  texts.append('m', 'Hello');
  texts.finish('m', 'Hello');
  expect(texts.finish('m', 'Hello')).toEqual({ rest: 'Hello', diverged: false });
});

test('surrounding white space does not count as a difference, other words do', () => {
  const texts = createStreamedTexts();
  texts.append('m', ' Hello\n');
  expect(texts.finish('m', 'Hello')).toEqual({ rest: '', diverged: false });
  texts.append('m', 'Hello, world');
  expect(texts.finish('m', 'Hello')).toEqual({ rest: '', diverged: true });
});

test('chunks and rest make up the complete text, however it is split', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (chunks, last) => {
      const texts = createStreamedTexts();
      for (const chunk of chunks) texts.append('m', chunk);
      const whole = chunks.join('') + last;
      expect(chunks.join('') + texts.finish('m', whole).rest).toBe(whole);
    }),
  );
});
