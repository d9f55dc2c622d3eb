import { expect, test } from 'vitest';
import { sizeOf } from './size-of.js';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [3_450_000, '3.5 MB'],
  [2_000_000_000_000, '2000.0 GB'],
])('%d bytes are %s', (bytes, expected) => {
  expect(sizeOf(bytes)).toBe(expected);
});
