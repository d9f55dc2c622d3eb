import { expect, it } from 'vitest';
import { startOfStep } from './steps.js';

const HOUR = 3_600_000;

it.each([
  ['2026-11-18T09:12:34.567Z', HOUR, '2026-11-18T09:00:00.000Z'],
  ['2026-11-18T09:12:34.567Z', 24 * HOUR, '2026-11-18T00:00:00.000Z'],
  ['2026-11-18T09:12:34.567Z', 7 * 24 * HOUR, '2026-11-16T00:00:00.000Z'],
  ['2026-11-16T00:00:00.000Z', 7 * 24 * HOUR, '2026-11-16T00:00:00.000Z'],
  ['2026-11-15T23:59:59.999Z', 7 * 24 * HOUR, '2026-11-09T00:00:00.000Z'],
])('%s in steps of %i ms: %s', (time, stepMs, start) => {
  expect(new Date(startOfStep(Date.parse(time), stepMs)).toISOString()).toBe(start);
});
