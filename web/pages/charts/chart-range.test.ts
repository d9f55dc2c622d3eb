import { expect, it, test } from 'vitest';
import { RANGES, readRange, buildStatisticsQuery, formatTimeMark } from './charts-page.js';

it.each([
  ['week', 'week'],
  [null, 'day'],
  ['toString', 'day'],
])('the range %s in the address is read as %s', (word, range) => {
  expect(readRange(word)).toBe(range);
});

it('a period starts at a multiple of the step and stays there until the next one', () => {
  const now = Date.parse('2026-11-15T09:12:34.567Z');
  expect(buildStatisticsQuery('hour', now)).toEqual({ since: '2026-11-15T08:13:00.000Z', step: 60 });
  expect(buildStatisticsQuery('hour', now + 20_000)).toEqual(buildStatisticsQuery('hour', now));
});

it('every range has a few dozen steps', () => {
  const steps = Object.values(RANGES).map(({ lengthS, stepS }) => lengthS / stepS);
  expect(steps).toEqual([60, 48, 56, 30]);
});

test('a label below a chart is the date at midnight, and the time otherwise', () => {
  const mark = (...parts: [number, number, number, number, number]) =>
    formatTimeMark(new Date(...parts).getTime() / 1000);
  expect(mark(2026, 0, 5, 0, 0)).toBe('01-05');
  expect(mark(2026, 10, 15, 9, 5)).toBe('09:05');
  expect(mark(2026, 10, 15, 0, 30)).toBe('00:30');
});
