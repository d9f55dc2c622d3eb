import { expect, it } from 'vitest';
import { parseTime } from './lists.js';

it.each([
  ['2026-11-15', '2026-11-15T00:00:00.000Z'],
  ['2026-11-15T08:00:00Z', '2026-11-15T08:00:00.000Z'],
  ['2026-11-15T08:00:00.5+02:00', '2026-11-15T06:00:00.500Z'],
])('parses the time %s as %s', (word, time) => {
  expect(parseTime(word)).toBe(time);
});

it.each(['yesterday', '', '2026', '2026-02-31', '2026-13-01', '2026-11-15T08:00', '2026-12-31T23:59:60Z'])(
  'rejects %j as a time',
  (word) => {
    expect(() => parseTime(word)).toThrow('Use a date (2026-11-15) or a time');
  },
);
