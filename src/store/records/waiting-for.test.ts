import { expect, it } from 'vitest';
import { describeWaitingFor } from './run-record.js';
import type { WaitingFor } from './run-record.js';

const opens_at = '2026-11-16T00:00:00.000Z';

it.each<[WaitingFor, string]>([
  [{ reason: 'folder', run: 'R1' }, 'its folder, in use by run R1'],
  [{ reason: 'folder', run: 'R1', started_at: opens_at }, `its folder, in use by run R1 (started ${opens_at})`],
  [{ reason: 'folder', run: null }, 'its folder, in use by another process'],
  [{ reason: 'budget', budget: 'day', opens_at }, `the daily budget, which resets at ${opens_at}`],
  [{ reason: 'budget', budget: 'caller ci', opens_at }, `the budget of token "ci", which resets at ${opens_at}`],
])('describeWaitingFor describes %j', (waiting, text) => {
  expect(describeWaitingFor(waiting)).toBe(text);
});
