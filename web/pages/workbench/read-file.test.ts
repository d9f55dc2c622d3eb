import { expect, it } from 'vitest';
import { readFile, MAX_TEXT_LENGTH, explainTooLong } from './text-pane.js';

it('a file is read unchanged, no matter where its slices end', async () => {
  const text = '{"words": "如此这般 😀"}\n'.repeat(80_000);
  expect(await readFile(new Blob([text]))).toBe(text);
});

it('an incomplete character at the end of a file becomes a replacement character', async () => {
  expect(await readFile(new Blob([new Uint8Array([0x7b, 0xe5, 0xa6])]))).toBe('{\ufffd');
});

it('invalid bytes become replacement characters, and a byte order mark is dropped', async () => {
  expect(await readFile(new Blob([new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x7d])]))).toBe('{\ufffd}');
});

it('input up to the limit is accepted', () => {
  expect(explainTooLong('log.txt', MAX_TEXT_LENGTH)).toBeNull();
});

it('longer input is refused with its length, the limit and an alternative', () => {
  expect(explainTooLong('log.txt', MAX_TEXT_LENGTH + 1)).toBe(
    'log.txt is 16.1 MB, but the workbench accepts only 16 MB. Use sluice parse on the command line.',
  );
});
