import { describe, expect, test } from 'vitest';
import { decodeText } from './result-file.js';

describe('decodeText', () => {
  test.each<[string, Uint8Array]>([
    ['UTF-8', Buffer.from('größer 漢')],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFgrößer 漢')],
    ['UTF-16 little-endian', Buffer.from('\uFEFFgrößer 漢', 'utf16le')],
    ['UTF-16 big-endian', Buffer.from('\uFEFFgrößer 漢', 'utf16le').swap16()],
  ])('reads %s', (_, bytes) => {
    expect(decodeText(bytes)).toEqual({ status: 'read', text: 'größer 漢' });
  });

  test.each<[string, Uint8Array]>([
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x62])],
    ['an incomplete character at the end', Buffer.from('ö').subarray(0, 1)],
    ['NUL', Buffer.from('a\0b')],
    ['UTF-16 without a byte order mark', Buffer.from('abc', 'utf16le')],
    ['half of a UTF-16 unit', Buffer.from('\uFEFFabc', 'utf16le').subarray(0, 7)],
  ])('refuses %s', (_, bytes) => {
    expect(decodeText(bytes)).toEqual({
      status: 'unreadable',
      problem: { code: 'RESULT_NOT_UTF8', message: 'it is not UTF-8 text; write it as UTF-8' },
    });
  });
});
