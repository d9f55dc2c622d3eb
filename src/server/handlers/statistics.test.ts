import { expect, it, describe } from 'vitest';
import fc from 'fast-check';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from '../fixtures/open-server.js';
import { countRun } from '../../store/roll-up.js';
import type { RunSample } from '../../store/roll-up.js';
import type { InboxHistory } from '../../store/inbox-roll-up.js';
import type { ServerSettings } from '../server-settings.js';
import { countStatistics, computePercentile, readStatisticsSpan } from './records.js';

const NOW = Date.parse('2026-11-15T06:30:00.000Z');

it('GET /v1/statistics counts the runs and inbox items in the store', async () => {
  const { get, store } = await openServer({ clock: () => NOW });
  await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'running', workerId: 'w1', now: NOW - 5000 });
  await store.endRun({ id: 'r1', workerId: 'w1', result: createRunResult(), now: NOW - 1000 });
  const statistics = await readJson(get('/v1/statistics?since=2026-11-15T06:00:00.000Z'));
  expect(statistics).toMatchObject({
    since: '2026-11-15T06:00:00.000Z',
    until: '2026-11-15T06:30:00.000Z',
    step_s: 60,
  });
  const buckets = statistics['buckets'] as unknown[];
  expect(buckets).toHaveLength(30);
  expect(buckets.at(-1)).toMatchObject({
    at: '2026-11-15T06:29:00.000Z',
    runs: [{ engine: 'command', outcomes: { success: 1 }, latency_ms: { p50: 4032, p95: 4032 } }],
  });
});

it.each(['step=59', 'step=1.5', 'since=2026-11-16', 'since=2020-01-01&step=60', 'since=2026-13-01'])(
  'GET /v1/statistics rejects %s',
  async (query) => {
    const { get } = await openServer({ clock: () => NOW });
    expect(await readJson(get(`/v1/statistics?${query}`))).toMatchObject({ status: 400, code: 'INVALID_QUERY' });
  },
);

const HOUR = 3_600_000;
const SPAN = { since: NOW - 2 * HOUR, until: NOW, stepMs: HOUR };

function createRun(change: Partial<RunSample> = {}): RunSample {
  return {
    engine: 'codex',
    outcome: 'success',
    repair_level: 'none',
    engine_version: null,
    unknown_types: 0,
    unknown_fields: 0,
    usage: null,
    started_at: NOW - HOUR,
    ended_at: NOW - 1,
    ...change,
  };
}

interface Item {
  readonly created_at: number;
  readonly resolved_at: number | null;
  readonly cause: string;
}

/** Converts items that are not yet counted in slots to a history. */
function toHistory(items: readonly Item[], since = SPAN.since): InboxHistory {
  const open = items.filter(({ resolved_at }) => resolved_at === null).map(({ created_at }) => created_at);
  const opened = items.map(({ created_at: at, cause }) => ({
    at,
    counts: { opened: [{ cause, items: 1 }], resolved: 0, oldest_resolved: null },
  }));
  const resolved = items.flatMap(({ created_at, resolved_at: at }) =>
    at === null ? [] : [{ at, counts: { opened: [], resolved: 1, oldest_resolved: created_at } }],
  );
  return {
    slots: [...opened, ...resolved].filter(({ at }) => at >= since),
    open: open.length,
    oldest: open.length === 0 ? null : Math.min(...open),
  };
}

const count = (runs: readonly RunSample[], inbox: readonly Item[] = [], prices: ServerSettings['prices'] = {}) =>
  countStatistics({ span: SPAN, runs: runs.map(toSlot), inbox: toHistory(inbox), now: NOW, prices });

/** Converts a run to the record that a store returns while it is not yet counted in a slot. */
const toSlot = (sample: RunSample) => ({ at: sample.ended_at, engine: sample.engine, counts: countRun(sample) });

describe('statistics over time', () => {
  it('have a bucket for every step, even if nothing happened', () => {
    const empty = { runs: [], usage: [], drift: [], inbox: { open: 0, oldest_age_ms: null }, needs_human: [] };
    expect(count([])).toEqual([
      { at: '2026-11-15T04:30:00.000Z', ...empty },
      { at: '2026-11-15T05:30:00.000Z', ...empty },
    ]);
  });

  it('count the outcomes of runs, by engine', () => {
    const [first, second] = count([
      createRun(),
      createRun({ outcome: 'failed', repair_level: 'schema_aligned' }),
      createRun({ engine: 'claude' }),
      createRun({ ended_at: NOW - HOUR - 1 }),
    ]);
    expect(first?.runs).toMatchObject([{ engine: 'codex', outcomes: { success: 1 } }]);
    expect(second?.runs).toMatchObject([
      { engine: 'claude', outcomes: { success: 1 } },
      {
        engine: 'codex',
        outcomes: { success: 1, failed: 1, canceled: 0, comment: 0 },
        repair_levels: { none: 1, deterministic_generic: 0, schema_aligned: 1 },
      },
    ]);
  });

  it('have the durations of started runs', () => {
    const createRunWithDuration = (ms: number) => createRun({ started_at: NOW - 1 - ms });
    const [, bucket] = count([
      createRunWithDuration(30),
      createRunWithDuration(10),
      createRunWithDuration(20),
      createRun({ started_at: null }),
      createRunWithDuration(-5),
    ]);
    expect(bucket?.runs[0]?.latency_ms).toEqual({ p50: 10, p95: 30 });
    expect(count([createRun({ started_at: null })])[1]?.runs[0]?.latency_ms).toBeNull();
  });

  it('have the tokens of runs without a cost, and their estimated cost if the model has a price', () => {
    const used = { input_tokens: 3_000_000, cached_input_tokens: 1_000_000, output_tokens: 500_000 };
    const createUse = (model: string | null, cost: number | null) => createRun({ usage: { ...used, model, cost } });
    const runs = [createUse('gpt-5', null), createUse('gpt-5', 7), createUse('opus', 0), createUse(null, null)];
    const readUsage = (prices: ServerSettings['prices']) =>
      count(runs, [], prices)[1]?.usage.map(({ model, cost, unpriced_tokens, estimated_cost }) => [
        model,
        cost,
        unpriced_tokens,
        estimated_cost,
      ]);
    const price = { input: 2, cached_input: 0.5, output: 10 };
    expect(readUsage({ 'gpt-*': price })).toEqual([
      ['gpt-5', 7, 3_500_000, 9.5],
      ['opus', 0, 0, null],
      [null, 0, 3_500_000, null],
    ]);
    // The first match counts, and cached input has the price of input unless it has one.
    expect(readUsage({ 'gpt-5': { input: 2, output: 10 }, '*': { input: 1, output: 0 } })).toEqual([
      ['gpt-5', 7, 3_500_000, 11],
      ['opus', 0, 0, 0],
      [null, 0, 3_500_000, 3],
    ]);
  });

  it('count unknown types and fields by version, including versions without any', () => {
    const [, bucket] = count([
      createRun({ engine_version: '1.0', unknown_types: 2 }),
      createRun({ engine_version: '1.0', unknown_fields: 3 }),
      createRun({ engine_version: '1.1' }),
      createRun(),
      createRun({ unknown_types: 1 }),
    ]);
    expect(bucket?.drift).toEqual([
      { engine: 'codex', engine_version: '1.0', runs: 2, unknown_types: 2, unknown_fields: 3 },
      { engine: 'codex', engine_version: '1.1', runs: 1, unknown_types: 0, unknown_fields: 0 },
      { engine: 'codex', engine_version: null, runs: 1, unknown_types: 1, unknown_fields: 0 },
    ]);
  });

  it('sum tokens and cost by engine and model', () => {
    const usage = { model: 'opus', input_tokens: 10, cached_input_tokens: 4, output_tokens: 2, cost: 0.5 };
    const [, bucket] = count([
      createRun({ usage }),
      createRun({ usage: { ...usage, cost: null } }),
      createRun({ usage: { ...usage, model: null } }),
      createRun(),
    ]);
    expect(bucket?.usage).toEqual([
      {
        engine: 'codex',
        model: 'opus',
        runs: 2,
        input_tokens: 20,
        cached_input_tokens: 8,
        output_tokens: 4,
        cost: 0.5,
        unpriced_tokens: 12,
        estimated_cost: null,
      },
      { ...usage, engine: 'codex', model: null, runs: 1, unpriced_tokens: 0, estimated_cost: null },
    ]);
  });

  it('have the queue length and age at the end of each step', () => {
    const inbox: Item[] = [
      { created_at: NOW - 10 * HOUR, resolved_at: NOW - HOUR - 1, cause: 'MISSING' },
      { created_at: NOW - 1.5 * HOUR, resolved_at: NOW - 0.5 * HOUR, cause: 'MISSING' },
      { created_at: NOW - 0.25 * HOUR, resolved_at: null, cause: 'test_failed' },
    ];
    const [first, second] = count([], inbox);
    expect(first?.inbox).toEqual({ open: 1, oldest_age_ms: HOUR / 2 });
    expect(second?.inbox).toEqual({ open: 1, oldest_age_ms: HOUR / 4 });
    expect([first?.needs_human, second?.needs_human]).toEqual([
      [{ cause: 'MISSING', count: 1 }],
      [{ cause: 'test_failed', count: 1 }],
    ]);
  });

  it('have the same queues as a count of every item, no matter how old the span is', () => {
    const anyTime = fc.integer({ min: -30, max: 30 }).map((tenths) => NOW + tenths * (HOUR / 10));
    const items = fc.array(
      fc.record({
        created_at: anyTime,
        resolved_at: fc.option(fc.nat(40).map((tenths) => tenths * (HOUR / 10))),
        cause: fc.constant('x'),
      }),
    );
    fc.assert(
      fc.property(items, (some) => {
        const all = some.map((item) => ({
          ...item,
          resolved_at: item.resolved_at === null ? null : item.created_at + item.resolved_at,
        }));
        const now = NOW + 10 * HOUR;
        const buckets = countStatistics({ span: SPAN, runs: [], inbox: toHistory(all), now, prices: {} });
        for (const [place, { inbox }] of buckets.entries()) {
          const end = SPAN.since + (place + 1) * HOUR;
          const open = all.filter((item) => item.created_at < end && (item.resolved_at ?? now) >= end);
          const oldest = open.length === 0 ? null : end - Math.min(...open.map(({ created_at }) => created_at));
          expect(inbox).toEqual({ open: open.length, oldest_age_ms: oldest });
        }
      }),
    );
  });

  it('never have a negative age', () => {
    const inbox = toHistory([{ created_at: NOW - 5, resolved_at: null, cause: 'x' }]);
    const span = { since: NOW - HOUR, until: NOW + HOUR, stepMs: 2 * HOUR };
    expect(countStatistics({ span, runs: [], inbox, now: NOW, prices: {} })).toMatchObject([
      { inbox: { oldest_age_ms: 5 } },
    ]);
  });

  it('distinguish a bounded number of versions and causes', () => {
    const runs = Array.from({ length: 80 }, (_, index) => createRun({ engine_version: `${index}` }));
    const inbox = runs.map((_, index) => ({ created_at: NOW - 1, resolved_at: null, cause: `c${index}` }));
    const [, bucket] = count(runs, inbox);
    expect(bucket?.drift).toHaveLength(51);
    expect(bucket?.drift.at(-1)).toMatchObject({ engine_version: 'other', runs: 30 });
    expect(bucket?.needs_human.at(-1)).toEqual({ cause: 'other', count: 30 });
  });

  it('count every run and every item exactly once', () => {
    const runs = fc.array(
      fc.record({
        engine: fc.constantFrom('codex', 'claude'),
        outcome: fc.constantFrom('success', 'failed', 'canceled', 'comment'),
        repair_level: fc.constantFrom('none', 'deterministic_generic', 'schema_aligned'),
        engine_version: fc.option(fc.string()),
        unknown_types: fc.nat(5),
        unknown_fields: fc.nat(5),
        usage: fc.constant(null),
        started_at: fc.option(fc.integer({ min: NOW - 3 * HOUR, max: NOW })),
        ended_at: fc.integer({ min: SPAN.since, max: SPAN.until - 1 }),
      }),
    );
    fc.assert(
      fc.property(runs, (some) => {
        const buckets = count(some);
        const ends = buckets.flatMap(({ runs: ended }) => ended.flatMap(({ outcomes }) => Object.values(outcomes)));
        expect(ends.reduce((total, one) => total + one, 0)).toBe(some.length);
        const types = buckets.flatMap(({ drift }) => drift.map(({ unknown_types }) => unknown_types));
        expect(types.reduce((total, one) => total + one, 0)).toBe(
          some.reduce((total, { unknown_types }) => total + unknown_types, 0),
        );
      }),
    );
  });
});

describe('the span', () => {
  it('is the last week in complete steps by default', () => {
    expect(readStatisticsSpan({}, NOW)).toEqual({
      since: Date.parse('2026-11-08T06:00:00.000Z'),
      until: NOW,
      stepMs: 3 * HOUR,
    });
  });

  it.each([
    ['2026-11-15T06:00:00.000Z', 60],
    ['2026-11-15', 900],
    ['2026-11-01', 21_600],
    ['2025-11-15', 604_800],
    ['2024-01-01', 2_592_000],
    ['1990-01-01', 31_536_000],
  ])('since %s has steps of %i s', (since, seconds) => {
    expect(readStatisticsSpan({ since }, NOW).stepMs).toBe(seconds * 1000);
  });

  it('uses the requested step unless it is too short', () => {
    expect(readStatisticsSpan({ since: '2026-11-14', until: '2026-11-15', step: '3600' }, NOW).stepMs).toBe(HOUR);
    const refused = expect.objectContaining({ code: 'INVALID_QUERY' });
    expect(() => readStatisticsSpan({ since: '2026-11-01', step: '60' }, NOW)).toThrow(refused);
    expect(() => readStatisticsSpan({ since: '2026-11-16' }, NOW)).toThrow(refused);
    expect(() => readStatisticsSpan({ since: '2026-02-31T00:00:00.000Z', until: '2026-99-01' }, NOW)).toThrow(refused);
  });

  it.each([
    [61, 120],
    [3600, 3600],
    [5400, 7200],
    [86_401, 172_800],
  ])('rounds a step of %i s up to %i s, a multiple of a slot', (step, rounded) => {
    expect(readStatisticsSpan({ since: '2026-11-15T00:00:00.000Z', step: String(step) }, NOW).stepMs).toBe(
      rounded * 1000,
    );
  });

  it('never has more than 500 steps', () => {
    const anyTime = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(anyTime, anyTime, (one, other) => {
        fc.pre(one < other);
        const span = readStatisticsSpan({ since: one.toISOString(), until: other.toISOString() }, NOW);
        expect(span.since).toBeLessThanOrEqual(one.getTime());
        expect((span.until - span.since) / span.stepMs).toBeLessThanOrEqual(500);
      }),
    );
  });
});

it.each([
  [[[5, 1]], 0.5, 5],
  [
    [
      [1, 1],
      [2, 1],
    ],
    0.5,
    1,
  ],
  [
    [
      [1, 3],
      [4, 1],
    ],
    0.95,
    4,
  ],
  [Array.from({ length: 100 }, (_, index) => [index + 1, 2] as const), 0.95, 95],
] as const)('of the values %j, the fraction %d is at or below %d', (counted, fraction, expected) => {
  expect(computePercentile(counted, fraction)).toBe(expected);
});
