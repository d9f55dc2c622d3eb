import { expect, test } from 'vitest';
import { timeMark } from './time-mark.js';

test('a day is told where it begins, the time of the day elsewhere', () => {
  const mark = (...parts: [number, number, number, number, number]) => timeMark(new Date(...parts).getTime() / 1000);
  expect(mark(2026, 0, 5, 0, 0)).toBe('01-05');
  expect(mark(2026, 10, 15, 9, 5)).toBe('09:05');
  expect(mark(2026, 10, 15, 0, 30)).toBe('00:30');
});
