import { expect, test } from 'vitest';
import { formatDuration, formatMoment, formatWait } from './text.js';

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [999.6, '1.0 s'],
  [1234, '1.2 s'],
  [59_949, '59.9 s'],
  [59_999, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [200_000_000, '2 d 7 h'],
])('a duration of %d ms is formatted as %s', (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected);
});

test('a time today is formatted without its date', () => {
  const now = new Date(2026, 10, 15, 12, 0, 0);
  expect(formatMoment(new Date(2026, 10, 15, 9, 5, 7).toISOString(), now)).toBe('09:05:07');
  expect(formatMoment(new Date(2026, 10, 14, 9, 5, 7).toISOString(), now)).toBe('2026-11-14 09:05');
});

test.each([
  [-5, '< 1 min'],
  [59_999, '< 1 min'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [72 * 3_600_000, '3 d'],
])('a wait of %d ms is formatted as %s', (ms, expected) => {
  expect(formatWait(ms)).toBe(expected);
});
