import { describe, expect, test } from 'vitest';
import type { StatisticsView } from '../../../src/server/api/index.js';
import type { WorkerRecord } from '../../../src/store/records/index.js';
import { findDead } from '../../data/waiting.js';
import { computePercent, describeFate, nameWorker, summarizeCost } from './now-parts.js';

type Bucket = StatisticsView['buckets'][number];

const usage = (cost: number, engine = 'codex') => ({
  engine,
  model: null,
  runs: 1,
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 5,
  cost,
  unpriced_tokens: cost > 0 ? 0 : 15,
  estimated_cost: null,
});
const day = (...entries: readonly ReturnType<typeof usage>[]): Bucket => ({
  at: '',
  runs: [],
  usage: entries,
  drift: [],
  inbox: { open: 0, oldest_age_ms: null },
  needs_human: [],
});

describe('the cost of today', () => {
  test('is compared with the median of the days with usage', () => {
    const buckets = [day(usage(9)), day(), day(usage(1)), day(usage(2)), day(usage(3), usage(1))];
    expect(summarizeCost(buckets)).toMatchObject({ today: { value: 4, isComplete: true }, usual: { value: 2 } });
  });

  test('is a lower bound if an engine reports no cost', () => {
    expect(summarizeCost([day(usage(1)), day(usage(3), usage(0, 'gemini'))])).toMatchObject({
      today: { value: 3, isComplete: false },
      usual: { isComplete: true },
    });
  });

  test('has nothing to be compared with at first', () => {
    expect(summarizeCost([day(), day(usage(1))]).usual).toBeNull();
    expect(summarizeCost([])).toEqual({ today: { value: 0, isComplete: true, isEstimate: false }, usual: null });
  });
});

test('a budget is as full as its fuller limit', () => {
  const amount = (used: number, limit: number) => ({ used, limit, held: used });
  expect(computePercent({ tokens: amount(50, 100), cost: amount(3, 2) })).toBe(150);
  expect(computePercent({ tokens: null, cost: amount(0, 0) })).toBe(100);
  // It is exceeded at 100 percent, so it is not rounded up.
  expect(computePercent({ tokens: amount(999, 1000), cost: null })).toBe(99);
  expect(computePercent({ tokens: null, cost: null })).toBe(0);
});

describe('a worker that died', () => {
  const NOW = Date.parse('2026-11-16T12:00:00.000Z');
  const worker = (id: string, host: string, changes: Partial<WorkerRecord> = {}): WorkerRecord => ({
    id,
    host,
    version: '0.2.0',
    engines: [],
    capacity: 4,
    busy: 0,
    seen_at: '2026-11-16T08:00:00.000Z',
    state: 'gone',
    runs: [],
    ...changes,
  });
  const alive = worker('a', 'one', { state: 'alive' });

  test('matters while it holds runs, its host has no worker, or it died within the hour', () => {
    const recent = { seen_at: '2026-11-16T11:30:00.000Z' };
    const all = [
      alive,
      worker('b', 'one'),
      worker('c', 'one', { runs: ['r1'] }),
      worker('d', 'two'),
      worker('e', 'one', recent),
    ];
    expect(findDead(all, NOW).map(({ id }) => id)).toEqual(['c', 'd', 'e']);
  });

  test('has a name that no other worker on its host has, and its runs have a future', () => {
    const dead = worker('01JD0000000000000000000ABC', 'two', { runs: ['r1'] });
    expect(nameWorker(dead)).toBe('two · 000ABC');
    expect(describeFate(dead, [dead])).toContain('until a worker starts');
    expect(describeFate(dead, [dead, alive])).toContain('when a worker starts on two');
    expect(describeFate({ ...dead, host: 'one' }, [alive])).toContain('A worker on this host');
    expect(describeFate({ ...dead, runs: [] }, [alive])).toContain('no runs');
  });
});
