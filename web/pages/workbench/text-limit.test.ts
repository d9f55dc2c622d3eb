import { expect, it } from 'vitest';
import { LONGEST_TEXT, sayTooLong } from './text-limit.js';

it('a text up to the limit is taken', () => {
  expect(sayTooLong('log.txt', LONGEST_TEXT)).toBeNull();
});

it('a longer one is refused with its length, the limit and another way', () => {
  expect(sayTooLong('log.txt', LONGEST_TEXT + 1)).toBe(
    'log.txt has 16.1 MB; the workbench takes up to 16 MB. On the command line, sluice parse takes more.',
  );
});
