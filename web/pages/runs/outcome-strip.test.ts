import { expect, test } from 'vitest';
import { selectEngine } from '../../data/period.js';
import { listBars } from './runs-page.js';

const runs = (engine: string, success: number, failed: number) => ({
  engine,
  outcomes: { success, failed, canceled: 1, comment: 2 },
  repair_levels: { none: 0, deterministic_generic: 0, schema_aligned: 0 },
  latency_ms: null,
});
const statistics = {
  since: '2026-11-15T00:00:00.000Z',
  until: '2026-11-15T06:00:00.000Z',
  step_s: 10_800,
  buckets: [
    {
      at: '2026-11-15T00:00:00.000Z',
      runs: [runs('codex', 3, 1), runs('gemini', 5, 0)],
      usage: [],
      drift: [],
      inbox: { open: 0, oldest_age_ms: null },
      needs_human: [],
    },
  ],
};

test('a bar covers its step, and counts all engines or one', () => {
  const times = { from: '2026-11-15T00:00:00.000Z', to: '2026-11-15T03:00:00.000Z' };
  expect(listBars(statistics)).toEqual([{ ...times, success: 8, failed: 1, other: 6 }]);
  expect(listBars(selectEngine(statistics, 'codex'))).toEqual([{ ...times, success: 3, failed: 1, other: 3 }]);
});
