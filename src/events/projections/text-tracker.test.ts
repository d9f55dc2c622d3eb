import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextTracker } from './projection.js';

test('a complete text adds what its chunks lack', () => {
  const textTracker = new TextTracker();
  textTracker.append('m', 'Hel');
  textTracker.append('n', 'Bye');
  expect(textTracker.finish('m', 'Hello')).toEqual({ rest: 'lo', diverged: false });
  expect(textTracker.finish('n', 'Bye')).toEqual({ rest: '', diverged: false });
});

test('text without chunks is reported in full, even under an id that was finished before', () => {
  const textTracker = new TextTracker();
  textTracker.append('m', 'Hello');
  textTracker.finish('m', 'Hello');
  expect(textTracker.finish('m', 'Hello')).toEqual({ rest: 'Hello', diverged: false });
});

test('surrounding white space does not count as a difference, other words do', () => {
  const textTracker = new TextTracker();
  textTracker.append('m', ' Hello\n');
  expect(textTracker.finish('m', 'Hello')).toEqual({ rest: '', diverged: false });
  textTracker.append('m', 'Hello, world');
  expect(textTracker.finish('m', 'Hello')).toEqual({ rest: '', diverged: true });
});

test('chunks and rest make up the complete text, however it is split', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (chunks, last) => {
      const textTracker = new TextTracker();
      for (const chunk of chunks) textTracker.append('m', chunk);
      const whole = chunks.join('') + last;
      expect(chunks.join('') + textTracker.finish('m', whole).rest).toBe(whole);
    }),
  );
});
