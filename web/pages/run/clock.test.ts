import { expect, test } from 'vitest';
import { formatOffset } from './pane-list.js';

test.each([
  [0, '0:00.000'],
  [7250, '0:07.250'],
  [61_005, '1:01.005'],
  [3_600_000 + 120_000 + 3, '1:02:00.003'],
  [-5, '0:00.000'],
])('%d ms into a run is %s', (ms, expected) => {
  expect(formatOffset(ms)).toBe(expected);
});
