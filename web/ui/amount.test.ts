import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMoney, formatShort, formatCount, formatBytes, formatUsage } from './text.js';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
  [-12_345, '-12,345'],
  [1e300, '1e+300'],
])('a count of %d is formatted as %s', (count, expected) => {
  expect(formatCount(count)).toBe(expected);
});

test('a count is formatted like the platform formatter does', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (count) => {
      expect(formatCount(count)).toBe(count.toLocaleString('en'));
    }),
  );
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [999_949, '999.9 kB'],
  [999_999, '1.0 MB'],
  [999_999_999, '1.0 GB'],
  [3_450_000, '3.5 MB'],
  [2_000_000_000_000, '2000.0 GB'],
])('%d bytes are formatted as %s', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected);
});

test('usage is formatted without unknown values', () => {
  expect(formatUsage({ input_tokens: 1200, output_tokens: 40, cost: 0.0123 })).toBe('1,200 in · 40 out · $0.0123');
  expect(formatUsage({ input_tokens: 5, cached_input_tokens: 3, output_tokens: 0 })).toBe('5 in · 3 cached · 0 out');
  expect(formatUsage(undefined)).toBe('');
});

test.each([
  [0, '$0'],
  [0.0012, '$0.0012'],
  [0.009_99, '$0.01'],
  [0.5, '$0.50'],
  [1234.5, '$1,234.50'],
])('%d dollars are formatted as %s', (dollars, expected) => {
  expect(formatMoney(dollars)).toBe(expected);
});

test.each([
  [12, '12'],
  [999.6, '1.0k'],
  [12_345, '12.3k'],
  [999_949, '999.9k'],
  [999_999, '1.0M'],
  [4_500_000, '4.5M'],
])('the short form of %d is %s', (count, expected) => {
  expect(formatShort(count)).toBe(expected);
});
