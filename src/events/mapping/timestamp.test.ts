import { expect, it } from 'vitest';
import { toTimestamp } from './event-writer.js';

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [1_794_703_525_565.7, '2026-11-15T00:45:25.565Z'],
  [-5, '1970-01-01T00:00:00.000Z'],
  [Number.NaN, '1970-01-01T00:00:00.000Z'],
  [Number.POSITIVE_INFINITY, '1970-01-01T00:00:00.000Z'],
  [1e16, '9999-12-31T23:59:59.999Z'],
])('a clock at %d is formatted as %s', (ms, timestamp) => {
  expect(toTimestamp(ms)).toBe(timestamp);
});
