import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRun, groupBySlot, roundDuration, splitPeriod, sumCounts, toRunSlot } from './roll-up.js';
import type { RunSample } from './roll-up.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function createSample(change: Partial<RunSample> = {}): RunSample {
  return {
    engine: 'codex',
    outcome: 'success',
    repair_level: 'none',
    engine_version: null,
    unknown_types: 0,
    unknown_fields: 0,
    usage: null,
    started_at: 1000,
    ended_at: 2000,
    ...change,
  };
}

describe('counts', () => {
  it('are the same regardless of the order and grouping of the sums', () => {
    const samples = fc.array(
      fc.record({
        engine: fc.constant('codex'),
        outcome: fc.constantFrom('success', 'failed', 'canceled', 'comment'),
        repair_level: fc.constantFrom('none', 'deterministic_generic', 'schema_aligned'),
        engine_version: fc.option(fc.constantFrom('1', '2')),
        unknown_types: fc.nat(3),
        unknown_fields: fc.nat(3),
        usage: fc.option(
          fc.record({
            model: fc.option(fc.constantFrom('opus', 'other')),
            input_tokens: fc.nat(9),
            cached_input_tokens: fc.nat(9),
            output_tokens: fc.nat(9),
            cost: fc.option(fc.integer({ min: -1, max: 9 })),
          }),
        ),
        started_at: fc.option(fc.nat(2000)),
        ended_at: fc.nat(4000),
      }),
    );
    const sortAsJson = (value: readonly object[]) => value.map((each) => JSON.stringify(each)).toSorted();
    fc.assert(
      fc.property(samples, fc.nat(20), (some, cut) => {
        const counts = some.map(countRun);
        const total = sumCounts(counts);
        const parts = sumCounts([sumCounts(counts.slice(cut)), sumCounts(counts.slice(0, cut))]);
        expect({ ...parts, usage: sortAsJson(parts.usage), drift: sortAsJson(parts.drift) }).toEqual({
          ...total,
          usage: sortAsJson(total.usage),
          drift: sortAsJson(total.drift),
        });
      }),
    );
  });

  it('distinguish a bounded number of models and versions', () => {
    const usage = { input_tokens: 1, cached_input_tokens: 0, output_tokens: 0, cost: 1 };
    const samples = Array.from({ length: 80 }, (_, index) =>
      createSample({ engine_version: `${index}`, usage: { ...usage, model: `m${index}` } }),
    );
    const { usage: models, drift } = sumCounts(samples.map(countRun));
    expect([models.length, drift.length]).toEqual([51, 51]);
    expect(models.at(-1)).toMatchObject({ model: 'other', runs: 30, input_tokens: 30, cost: 30 });
    expect(drift.at(-1)).toMatchObject({ engine_version: 'other', runs: 30 });
  });
});

describe('durations', () => {
  it('are exact below 64 ms and at most 1.6 % off above', () => {
    expect([0, 1, 63, -5].map(roundDuration)).toEqual([0, 1, 63, 0]);
    fc.assert(
      fc.property(fc.integer({ min: 64, max: 10 * DAY }), (ms) => {
        expect(Math.abs(roundDuration(ms) - ms) / ms).toBeLessThanOrEqual(1 / 64);
      }),
    );
    const rounded = new Set(Array.from({ length: 600_000 }, (_, index) => roundDuration(index + 1000)));
    expect(rounded.size).toBeLessThan(350);
  });
});

describe('a span', () => {
  it('consists of the longest slots that fit into its steps', () => {
    const since = 20 * DAY;
    expect(splitPeriod({ since, until: since + 3 * DAY, stepMs: DAY })).toEqual({
      ranges: [{ length: DAY, since, until: since + 3 * DAY }],
      coveredUntil: since + 3 * DAY,
    });
    expect(splitPeriod({ since, until: since + 30 * 60_000, stepMs: 60_000 }).ranges).toEqual([
      { length: 60_000, since, until: since + 30 * 60_000 },
    ]);
  });

  it('counts each of its runs once', () => {
    const spans = fc.record({
      since: fc.nat(3),
      length: fc.integer({ min: 1, max: 3 * DAY }),
      stepMs: fc.constantFrom(60_000, 5 * 60_000, HOUR, 3 * HOUR, DAY),
    });
    const endTimesArbitrary = fc.array(fc.integer({ min: 0, max: 6 * DAY }), { maxLength: 30 });
    fc.assert(
      fc.property(spans, endTimesArbitrary, ({ since: steps, length, stepMs }, endTimes) => {
        const span = { since: steps * stepMs, until: steps * stepMs + length, stepMs };
        const { ranges, coveredUntil } = splitPeriod(span);
        const slots = groupBySlot(endTimes.map((ended_at) => toRunSlot(createSample({ ended_at }))));
        const counted = slots
          .filter((slot) =>
            ranges.some((range) => range.length === slot.length && range.since <= slot.at && slot.at < range.until),
          )
          .reduce((sum, { counts }) => sum + counts.length, 0);
        const remaining = endTimes.filter((ended) => ended >= coveredUntil && ended < span.until).length;
        expect(counted + remaining).toBe(endTimes.filter((ended) => ended >= span.since && ended < span.until).length);
        expect(span.until - coveredUntil).toBeLessThan(60_000);
      }),
    );
  });
});
