import { expect, test } from 'vitest';
import { waitOf } from './wait-of.js';

test.each([
  [-5, '< 1 min'],
  [59_999, '< 1 min'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [72 * 3_600_000, '3 d'],
])('%d ms is %s', (ms, expected) => {
  expect(waitOf(ms)).toBe(expected);
});
