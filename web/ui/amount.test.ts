import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountOf } from './amount.js';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
  [-12_345, '-12,345'],
  [1e300, '1e+300'],
])('%d is %s', (count, expected) => {
  expect(amountOf(count)).toBe(expected);
});

test('agrees with the formatter of the platform', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (count) => {
      expect(amountOf(count)).toBe(count.toLocaleString('en'));
    }),
  );
});
