import { describe, expect, it, test } from 'vitest';
import type { StatisticsView } from '../../../src/server/api/shapes/service.js';
import {
  listEngineNames,
  formatValue,
  hasData,
  summarizeSeries,
  toCharts,
  toSpreadsheet,
  buildListPath,
  findAxisEnd,
  summarizePeriod,
  formatTimeMark,
} from './chart-model.js';
import { sumUsage, sumByDay, toCsv } from './usage.js';
import { selectEngine } from '../../data/period.js';
import { formatCost } from '../../ui/text.js';

type Bucket = StatisticsView['buckets'][number];

const EMPTY_BUCKET = { runs: [], usage: [], drift: [], inbox: { open: 0, oldest_age_ms: null }, needs_human: [] };
const createRunMetrics = (engine: string, success: number, failed = 0, p95 = 1000): Bucket['runs'][number] => ({
  engine,
  outcomes: { success, failed, canceled: 0, comment: 0 },
  repair_levels: { none: success, deterministic_generic: 0, schema_aligned: 0 },
  latency_ms: { p50: p95 / 2, p95 },
});
const createDrift = (engine_version: string | null, unknown_types: number): Bucket['drift'][number] => ({
  engine: 'codex',
  engine_version,
  runs: 1,
  unknown_types,
  unknown_fields: 1,
});

function createStatistics(...buckets: readonly Partial<Bucket>[]): StatisticsView {
  return {
    since: '2026-11-15T00:00:00.000Z',
    until: '2026-11-15T01:00:00.000Z',
    step_s: 60,
    buckets: buckets.map((bucket, index) => ({ at: `2026-11-15T00:0${index}:00.000Z`, ...EMPTY_BUCKET, ...bucket })),
  };
}

function listSeries(statistics: StatisticsView, id: string, engine: string | null = null): Record<string, unknown> {
  const chart = toCharts(selectEngine(statistics, engine), engine).find((one) => one.id === id);
  return Object.fromEntries((chart?.series ?? []).map(({ label, values }) => [label, values]));
}

describe('charts', () => {
  const statistics = createStatistics(
    { runs: [createRunMetrics('codex', 2, 1), createRunMetrics('gemini', 5)] },
    {},
    { runs: [createRunMetrics('codex', 1, 0, 4000)] },
  );

  it('add up the outcomes of all engines', () => {
    expect(listSeries(statistics, 'outcomes')).toMatchObject({ Success: [7, 0, 1], Failed: [1, 0, 0] });
  });

  it('show a single engine', () => {
    expect(listSeries(statistics, 'outcomes', 'codex')).toMatchObject({ Success: [2, 0, 1], Failed: [1, 0, 0] });
  });

  it('never add up percentiles: each engine has its own, with gaps where nothing ran', () => {
    expect(listSeries(statistics, 'latency')).toEqual({ gemini: [500, null, null], codex: [500, null, 2000] });
    expect(listSeries(statistics, 'slowest')).toEqual({ gemini: [1000, null, null], codex: [1000, null, 4000] });
  });

  it('show each engine as one series', () => {
    const engines = ['claude', 'codex', 'gemini', 'iflow', 'opencode'];
    const busy = createStatistics({ runs: engines.map((engine) => createRunMetrics(engine, 1)) });
    expect(Object.keys(listSeries(busy, 'latency'))).toEqual(engines);
    expect(Object.keys(listSeries(busy, 'slowest'))).toEqual(engines);
  });

  it('show drift by engine version', () => {
    const drift = createStatistics({ drift: [createDrift('1.2', 3), createDrift(null, 0)] });
    expect(listSeries(drift, 'drift')).toEqual({ 'codex 1.2': [4], 'codex (version unknown)': [1] });
  });

  it('have at most six series, and lose no data', () => {
    const causes = Array.from({ length: 9 }, (_, index) => ({ cause: `cause ${index}`, count: index + 1 }));
    const lines = listSeries(createStatistics({ needs_human: causes }), 'causes');
    expect(Object.keys(lines)).toEqual(['cause 8', 'cause 7', 'cause 6', 'cause 5', 'cause 4', 'Others']);
    expect(lines['Others']).toEqual([1 + 2 + 3 + 4]);
  });

  it('have no data without runs', () => {
    expect(toCharts(createStatistics({}, {}), null).some(hasData)).toBe(false);
    expect(
      toCharts(statistics, null)
        .filter(hasData)
        .map(({ id }) => id),
    ).toEqual(['outcomes', 'repairs', 'latency', 'slowest']);
  });

  it('list the engines that have data', () => {
    expect(listEngineNames(statistics)).toEqual(['codex', 'gemini']);
  });
});

it.each([
  [null, 'count', '–'],
  [12_345, 'count', '12,345'],
  [1234, 'duration', '1.2 s'],
] as const)('the value %s as a %s is formatted as %s', (value, unit, expected) => {
  expect(formatValue(value, unit)).toBe(expected);
});

it('values are copied exactly, and a malicious name creates neither cells nor a formula', () => {
  const chart = toCharts(createStatistics({ needs_human: [{ cause: '=1+1\tx\ny', count: 2 }] }), null).find(
    ({ id }) => id === 'causes',
  );
  expect(chart && toSpreadsheet(chart)).toBe("time\t'=1+1 x y\n2026-11-15T00:00:00.000Z\t2\n");
});

it('a series is summarized as a total, a median or a current value', () => {
  const inbox = (open: number): Partial<Bucket> => ({
    runs: [createRunMetrics('codex', 2)],
    inbox: { open, oldest_age_ms: 5000 },
  });
  const words = toCharts(createStatistics(inbox(4), inbox(1)), null).map((chart) => [
    chart.id,
    ...chart.series.slice(0, 1).map((series) => summarizeSeries(series, chart)),
  ]);
  expect(words).toEqual([
    ['outcomes', '4'],
    ['repairs', '4'],
    ['cost'],
    ['tokens'],
    ['latency', '~ 500 ms'],
    ['slowest', '~ 1.0 s'],
    ['drift'],
    ['inbox', 'Now 1'],
    ['age', 'Now 5.0 s'],
    ['causes'],
  ]);
});

it('large counts are rounded, and the value axis ends at a round number', () => {
  const tokens = findChart(createStatistics({ usage: [createUsage('claude', 'opus', 2)] }, {}), 'tokens');
  const line = { label: 'x', tone: 'accent', listFilter: null, values: [3_400_000, null, 100_000] } as const;
  expect(summarizeSeries(line, tokens)).toBe('3.5M');
  const chart = { ...tokens, times: [0, 60, 120], series: [line, { ...line, values: [1_700_000, null, 0] }] };
  expect(findAxisEnd(chart)).toBe(10_000_000);
  // Percentiles are drawn next to each other.
  expect(findAxisEnd({ ...chart, unit: 'duration' })).toBe(5_000_000);
});

function findChart(statistics: StatisticsView, id: string) {
  const chart = toCharts(statistics, null).find((one) => one.id === id);
  if (chart === undefined) throw new Error(`no chart ${id}`);
  return chart;
}

test('a time mark is the date at midnight, and the date and time otherwise', () => {
  const mark = (...parts: [number, number, number, number, number]) =>
    formatTimeMark(new Date(...parts).getTime() / 1000);
  expect(mark(2026, 0, 5, 0, 0)).toBe('01-05');
  expect(mark(2026, 10, 15, 9, 5)).toBe('11-15 09:05');
});

const createUsage = (engine: string, model: string | null, cost: number): Bucket['usage'][number] => ({
  engine,
  model,
  runs: 1,
  input_tokens: 100,
  cached_input_tokens: 10,
  output_tokens: 5,
  cost,
  unpriced_tokens: cost > 0 ? 0 : 105,
  estimated_cost: null,
});

describe('the usage', () => {
  const statistics = createStatistics(
    { usage: [createUsage('claude', 'opus', 2), createUsage('codex', null, 0)] },
    { usage: [createUsage('claude', 'opus', 1)] },
  );

  it('is shown by engine and model', () => {
    expect(listSeries(statistics, 'cost')).toEqual({ 'claude opus': [2, 1], 'codex (model unknown)': [0, 0] });
    expect(listSeries(statistics, 'tokens', 'codex')).toEqual({ 'codex (model unknown)': [105, 0] });
  });

  it('is summed over the period, most expensive first', () => {
    expect(sumUsage(statistics)).toMatchObject([
      {
        engine: 'claude',
        model: 'opus',
        runs: 2,
        input: 200,
        cached: 20,
        output: 10,
        cost: { value: 3, isComplete: true },
      },
      {
        engine: 'codex',
        model: null,
        runs: 1,
        input: 100,
        cached: 10,
        output: 5,
        cost: { value: 0, isComplete: false },
      },
    ]);
    expect(sumUsage(selectEngine(statistics, 'codex'))).toHaveLength(1);
  });

  const readCost = (view: StatisticsView) => summarizePeriod(view).find(({ label }) => label === 'Cost');

  it('has a lower bound as its cost if some runs of a model report none, although others do', () => {
    const mixed = { ...createUsage('claude', 'opus', 2), unpriced_tokens: 5 };
    expect(readCost(createStatistics({ usage: [mixed] }))).toMatchObject({
      value: '≥ $2.00',
      note: '1 engine reports no cost',
    });
  });

  it('has a cost of zero if that is what the engine reports', () => {
    const free = { ...createUsage('claude', 'opus', 0), unpriced_tokens: 0 };
    expect(readCost(createStatistics({ usage: [free] }))).toEqual({ label: 'Cost', value: '$0', note: '' });
  });

  it('has an estimate from prices, marked everywhere, but never as a part of a lower bound', () => {
    const priced = { ...createUsage('codex', 'gpt', 0), estimated_cost: 0.5 };
    const estimated = createStatistics({ usage: [createUsage('claude', 'opus', 2), priced] });
    expect(readCost(estimated)).toMatchObject({
      value: '≈ $2.50',
      note: 'Partly estimated from the configured prices',
    });
    const chart = findChart(estimated, 'cost');
    expect(chart.help).toContain('≈');
    expect(chart.unreported).toEqual([[]]);
    expect(chart.series.map((one) => summarizeSeries(one, chart))).toEqual(['$2.00', '≈ $0.50']);
    expect(sumUsage(estimated).map(({ cost }) => formatCost(cost))).toEqual(['$2.00', '≈ $0.50']);
    expect(toCsv(sumByDay(estimated, 'cost'))).toContain('codex,0.5,0.5,true,true\r\n');
    const partly = createStatistics({
      usage: [createUsage('claude', 'opus', 2), priced, createUsage('gemini', null, 0)],
    });
    expect(readCost(partly)).toMatchObject({ value: '≥ $2.00', note: '1 engine reports no cost' });
  });
});

test('every value about runs links to the runs', () => {
  const [outcomes] = toCharts(createStatistics({ runs: [createRunMetrics('codex', 1, 1)] }, {}), 'codex');
  const failed = outcomes?.series.find(({ label }) => label === 'Failed');
  const path = failed === undefined ? null : buildListPath(failed, outcomes?.times ?? [], 0);
  expect(path).toBe(
    '/runs?engine=codex&outcome=failed&ended_since=2026-11-15T00%3A00%3A00.000Z&ended_until=2026-11-15T00%3A01%3A00.000Z',
  );
});

test("a model's values link to its runs, and review reasons link to executions", () => {
  const allSeries = toCharts(
    createStatistics(
      {
        usage: [createUsage('claude', 'opus 5', 2), createUsage('codex', null, 1)],
        needs_human: [{ cause: 'x', count: 1 }],
      },
      {},
    ),
    null,
  );
  const paths = (id: string): readonly (string | null)[] => {
    const chart = allSeries.find((one) => one.id === id);
    return (chart?.series ?? []).map((series) => buildListPath(series, chart?.times ?? [], 0));
  };
  expect(paths('cost')).toEqual([
    expect.stringContaining('/runs?engine=claude&model=opus+5&ended_since='),
    expect.stringMatching(/^\/runs\?engine=codex&ended_since=/),
  ]);
  expect(paths('causes')).toEqual([expect.stringMatching(/^\/executions\?decision=needs-human&from=2026-11-1\d&to=/)]);
  expect(paths('inbox')).toEqual([null]);
});

test('a table has the sums by engine and day, and what is not reported is neither zero nor missing from the totals', () => {
  const hours = [
    { at: '2026-11-14T23:00:00.000Z', usage: [createUsage('claude', 'opus', 2), createUsage('=codex', null, 0)] },
    { at: '2026-11-15T00:00:00.000Z', usage: [createUsage('claude', 'opus', 0.5)] },
    { at: '2026-11-15T01:00:00.000Z', usage: [createUsage('claude', 'sonnet', 0.25)] },
  ];
  const table = sumByDay(createStatistics(...hours), 'cost');
  expect(table.days).toEqual(['2026-11-14', '2026-11-15']);
  expect(toCsv(table).split('\r\n')).toEqual([
    'engine,2026-11-14,2026-11-15,total,complete,estimated',
    "'=codex,,0,,false,false",
    'claude,2,0.75,2.75,true,false',
    'total,2,0.75,2.75,false,false',
    '',
  ]);
  expect(sumByDay(createStatistics(...hours), 'tokens').total).toEqual({ value: 4 * 105, isComplete: true });
  expect(findChart(createStatistics(...hours), 'cost').unreported).toEqual([['=codex'], [], []]);
});
