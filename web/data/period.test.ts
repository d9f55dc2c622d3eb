import { expect, it } from 'vitest';
import { buildStatisticsQuery, PERIODS, readPeriod, readStep, STEPS } from './period.js';

it.each([
  ['week', 'week'],
  [null, 'day'],
  ['toString', 'day'],
])('the period %s in the address is read as %s', (word, period) => {
  expect(readPeriod(word)).toBe(period);
});

it('a step that a period does not have is replaced by its default', () => {
  expect([readStep('week', 'hour'), readStep('week', 'week'), readStep('quarter', null)]).toEqual([
    'hour',
    'day',
    'week',
  ]);
});

it('a period starts at a multiple of the step and stays there until the next one', () => {
  const now = Date.parse('2026-11-15T09:12:34.567Z');
  expect(buildStatisticsQuery(86_400, 3600, now)).toEqual({ since: '2026-11-14T10:00:00.000Z', step: 3600 });
  expect(buildStatisticsQuery(86_400, 3600, now + 20_000)).toEqual(buildStatisticsQuery(86_400, 3600, now));
});

it('no choice of period and step has more bars than fit next to each other', () => {
  for (const { lengthS, steps } of Object.values(PERIODS))
    for (const step of steps) expect(lengthS / STEPS[step]).toBeLessThanOrEqual(168);
});
