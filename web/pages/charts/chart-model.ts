import type { StatisticsView } from '../../../src/server/api/index.js';
import { labelState } from '../../ui/parts.js';
import {
  formatCost,
  formatCount,
  formatDay,
  formatDuration,
  formatMoment,
  formatMoney,
  formatShort,
  isUnpriced,
} from '../../ui/text.js';
import { t } from './texts.js';
import { formatCell, describeCost, getModelLabel, sumRows, sumUsage, type Usage, type UsageRow } from './usage.js';

type Bucket = StatisticsView['buckets'][number];
type RunStatistics = Bucket['runs'][number];

/** One chart series; missing values are null. */
export interface Series {
  readonly label: string;
  /** A semantic colour; both themes define each of them. */
  readonly tone: 'good' | 'warn' | 'bad' | 'accent' | 'dim';
  readonly values: readonly (number | null)[];
  /** The filter of the linked list, or null: with a decision, of executions; otherwise of runs. */
  readonly listFilter: Readonly<Record<string, string>> | null;
  /** Whether the values are, at least in part, estimates. */
  readonly isEstimate?: boolean;
}

/** One chart: the same numbers are shown as bars and as a table. */
export interface ChartModel {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  /** The meaning of a series without values; `No data for` by default. */
  readonly emptyText?: string;
  readonly unit: 'count' | 'duration' | 'money';
  /** Whether the values are snapshots, summarized by the last one. Otherwise they are totals or medians. */
  readonly isState: boolean;
  /** The start of each step, in seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** For each step, the engines that used tokens and reported no value. */
  readonly unreported?: readonly (readonly string[])[];
}

/** The maximum number of series per chart; more cannot be distinguished. */
const MAX_SERIES = 6;

export function listEngineNames({ buckets }: StatisticsView): readonly string[] {
  const names = buckets.flatMap(({ runs, drift }) => [...runs, ...drift].map(({ engine }) => engine));
  return [...new Set(names)].sort();
}

const OUTCOMES = [
  ['success', 'good'],
  ['failed', 'bad'],
  ['comment', 'accent'],
  ['canceled', 'dim'],
] as const;

const REPAIR_LEVELS = [
  ['none', 'good'],
  ['deterministic_generic', 'accent'],
  ['schema_aligned', 'accent'],
] as const;

/** Creates the charts. `engine`: the only one in the statistics, to filter the linked lists; null for all. */
export function toCharts({ buckets }: StatisticsView, engine: string | null): readonly ChartModel[] {
  const times = buckets.map(({ at }) => Date.parse(at) / 1000);
  const runsByBucket = buckets.map(({ runs }) => runs);
  const sum = (read: (statistics: RunStatistics) => number): readonly number[] =>
    runsByBucket.map((runs) => runs.reduce((total, statistics) => total + read(statistics), 0));
  const engineFilter: Readonly<Record<string, string>> = engine === null ? {} : { engine };
  const byModel = (read: (usage: Usage) => number): readonly Series[] =>
    createNamedSeries(
      buckets.map(({ usage }) => usage.map((one) => [getModelLabel(one), read(one)])),
      (label) => toNameFilter(label, 'model'),
    );
  const estimated = new Set(
    buckets
      .flatMap(({ usage }) => usage)
      .filter(({ estimated_cost }) => (estimated_cost ?? 0) > 0)
      .map(getModelLabel),
  );
  const byOutcome = OUTCOMES.map(([outcome, tone]): Series => {
    const values = sum(({ outcomes }) => outcomes[outcome]);
    return { label: labelState(outcome), tone, values, listFilter: { ...engineFilter, outcome } };
  });
  const byRepairLevel = REPAIR_LEVELS.map(([level, tone]): Series => {
    const values = sum((one) => one.repair_levels[level]);
    return { label: t.levels[level], tone, values, listFilter: { ...engineFilter, repair_level: level } };
  });
  const byVersion = createNamedSeries(
    buckets.map(({ drift }) =>
      drift.map(({ engine: name, engine_version: version, unknown_types, unknown_fields }) => [
        `${name} ${version ?? t.versionUnknown}`,
        unknown_types + unknown_fields,
      ]),
    ),
    (label) => toNameFilter(label, 'engine_version'),
  );
  const byCause = createNamedSeries(
    buckets.map((bucket) => bucket.needs_human.map((one) => [one.cause, one.count])),
    () => ({ decision: 'needs-human' }),
  );
  const open = buckets.map(({ inbox }) => inbox.open);
  const ages = buckets.map(({ inbox }) => inbox.oldest_age_ms);
  const chart = (
    id: string,
    title: string,
    help: string,
    series: readonly Series[],
    more: Partial<ChartModel> = {},
  ): ChartModel => ({ id, title, help, series, times, unit: 'count', isState: false, ...more });
  const duration = { unit: 'duration' } as const;
  return [
    chart('outcomes', t.outcomes, t.endedRunsByOutcome, byOutcome),
    chart('repairs', t.repairLevels, t.howMuchTheOutputHad, byRepairLevel),
    chart(
      'cost',
      t.cost,
      estimated.size === 0 ? t.usDollarsByEngineAnd : t.usDollarsWithEstimates,
      byModel(({ cost, estimated_cost }) => cost + (estimated_cost ?? 0)).map((one) => ({
        ...one,
        isEstimate: estimated.has(one.label),
      })),
      {
        unit: 'money',
        emptyText: t.engineDoesNotReport,
        unreported: buckets.map(({ usage }) => [...new Set(usage.filter(isUnpriced).map((one) => one.engine))]),
      },
    ),
    chart(
      'tokens',
      t.tokens,
      t.inputAndOutputTokensBy,
      byModel(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    ),
    chart('latency', t.duration, t.medianRunDurationP50, createLatencySeries(runsByBucket, 'p50'), duration),
    chart('slowest', t.slowestRuns, t.n95thPercentileOfRunDuration, createLatencySeries(runsByBucket, 'p95'), duration),
    chart('drift', t.drift, t.unknownEventTypesAndFields, byVersion),
    chart(
      'inbox',
      t.pages.inbox,
      t.itemsWaitingInTheInbox,
      [{ label: t.states.waiting, tone: 'warn', values: open, listFilter: null }],
      { isState: true },
    ),
    chart(
      'age',
      t.inboxAge,
      t.ageOfTheOldestWaiting,
      [{ label: t.oldest, tone: 'warn', values: ages, listFilter: null }],
      { ...duration, isState: true },
    ),
    chart('causes', t.reasonsForReview, t.newInboxItemsByReason, byCause),
  ];
}

export function hasData({ series }: ChartModel): boolean {
  return series.some(({ values }) => values.some((value) => value !== null && value > 0));
}

export function formatValue(value: number | null, unit: ChartModel['unit']): string {
  if (value === null) return '–';
  if (unit === 'money') return formatMoney(value);
  return unit === 'duration' ? formatDuration(value) : formatCount(value);
}

export function formatSeriesValue(
  { isEstimate = false }: Series,
  value: number | null,
  unit: ChartModel['unit'],
): string {
  return `${isEstimate && (value ?? 0) > 0 ? '≈ ' : ''}${formatValue(value, unit)}`;
}

/** Summarizes a series: its total, its current value, or its median. */
export function summarizeSeries(series: Series, { unit, isState }: ChartModel): string {
  const { values } = series;
  const knownValues = values.filter((value) => value !== null);
  if (isState) return t.now(formatShortValue(values.at(-1) ?? null, unit));
  if (unit === 'duration') {
    const median = knownValues.toSorted((one, other) => one - other)[Math.floor(knownValues.length / 2)];
    return median === undefined ? '' : `~ ${formatValue(median, unit)}`;
  }
  const total = knownValues.reduce((soFar, value) => soFar + value, 0);
  return unit === 'money' ? formatSeriesValue(series, total, unit) : formatShortValue(total, unit);
}

/** Whether the values of a chart add up to a bar; percentiles do not. */
export function isStacked({ unit }: ChartModel): boolean {
  return unit !== 'duration';
}

/** Finds the end of a chart's value axis: a round number not below the highest bar. */
export function findAxisEnd(chart: ChartModel): number {
  const bars = chart.times.map((_, index) => chart.series.map(({ values }) => values[index] ?? 0));
  const highest = Math.max(
    0,
    ...bars.map((values) =>
      isStacked(chart) ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values),
    ),
  );
  if (highest === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return ([1, 2, 5, 10].find((factor) => factor * power >= highest) ?? 10) * power;
}

// `3.5M` from here on.
const LONG_COUNT = 100_000;

export function formatShortValue(value: number | null, unit: ChartModel['unit']): string {
  if (unit === 'count' && value !== null && value >= LONG_COUNT) return formatShort(value);
  return formatValue(value, unit);
}

/** Creates a series for each engine: percentiles of multiple engines cannot be added up. */
function createLatencySeries(
  runsByBucket: readonly (readonly RunStatistics[])[],
  percentile: 'p50' | 'p95',
): readonly Series[] {
  const totals = sumByName(runsByBucket.flat().map(({ engine, outcomes }) => [engine, countRuns(outcomes)]));
  return findLargest(totals, MAX_SERIES).map((engine) => ({
    label: engine,
    tone: 'accent',
    listFilter: { engine },
    values: runsByBucket.map((runs) => runs.find((one) => one.engine === engine)?.latency_ms?.[percentile] ?? null),
  }));
}

/** Creates a series for each of the names with the largest totals, and one for all others together. */
function createNamedSeries(
  buckets: readonly (readonly (readonly [string, number])[])[],
  createFilter: (label: string) => Series['listFilter'],
): readonly Series[] {
  const totals = sumByName(buckets.flat());
  const topNames = findLargest(totals, totals.size > MAX_SERIES ? MAX_SERIES - 1 : MAX_SERIES);
  const series = topNames.map((label): Series => ({
    label,
    tone: 'accent',
    listFilter: createFilter(label),
    values: buckets.map((bucket) => sumMatching(bucket, (name) => name === label)),
  }));
  if (topNames.length === totals.size) return series;
  const otherTotals = buckets.map((bucket) => sumMatching(bucket, (name) => !topNames.includes(name)));
  return [...series, { label: t.others, tone: 'dim', values: otherTotals, listFilter: null }];
}

function sumByName(entries: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const [name, value] of entries) totals.set(name, (totals.get(name) ?? 0) + value);
  return totals;
}

function countRuns({ success, failed, canceled, comment }: RunStatistics['outcomes']): number {
  return success + failed + canceled + comment;
}

function sumMatching(bucket: readonly (readonly [string, number])[], matches: (name: string) => boolean): number {
  return bucket.reduce((sum, [name, value]) => (matches(name) ? sum + value : sum), 0);
}

function findLargest(totals: ReadonlyMap<string, number>, limit: number): readonly string[] {
  return [...totals]
    .sort(([one, first], [other, second]) => second - first || one.localeCompare(other))
    .slice(0, limit)
    .map(([name]) => name);
}

/** Turns a label into a filter by engine and model or version; an unknown one lists all of the engine's runs. */
function toNameFilter(label: string, key: 'model' | 'engine_version'): Readonly<Record<string, string>> {
  const [engine = '', ...otherWords] = label.split(' ');
  const modelOrVersion = otherWords.join(' ');
  return modelOrVersion.startsWith('(') ? { engine } : { engine, [key]: modelOrVersion };
}

/** Builds the path to the runs, counted when they end, or executions behind a value; null if it has no link. */
export function buildListPath({ listFilter }: Series, times: readonly number[], index: number): string | null {
  const from = times[index];
  if (listFilter === null || from === undefined) return null;
  // A single step is assumed to be a minute long, the shortest possible.
  const step = (times[1] ?? from + 60) - (times[0] ?? from);
  const [start, end] = [new Date(from * 1000), new Date((from + step) * 1000)];
  if (listFilter['decision'] !== undefined) {
    const to = new Date(end.getTime() - 1);
    const days = { from: formatDay(start), to: formatDay(to) };
    return `/executions?${new URLSearchParams({ ...listFilter, ...days }).toString()}`;
  }
  const bounds = { ended_since: start.toISOString(), ended_until: end.toISOString() };
  return `/runs?${new URLSearchParams({ ...listFilter, ...bounds }).toString()}`;
}

export function summarizePeriod(
  statistics: StatisticsView,
): readonly Readonly<{ label: string; value: string; note?: string }>[] {
  const outcomes = statistics.buckets.flatMap(({ runs }) => runs.map((one) => one.outcomes));
  const count = (read: (counts: RunStatistics['outcomes']) => number): number =>
    outcomes.reduce((sum, counts) => sum + read(counts), 0);
  const [success, failed] = [count((counts) => counts.success), count((counts) => counts.failed)];
  const all = count(countRuns);
  const usage = sumUsage(statistics);
  const sum = (read: (row: UsageRow) => number): number => usage.reduce((soFar, row) => soFar + read(row), 0);
  return [
    { label: t.pages.runs, value: formatCount(all) },
    { label: t.states.failed, value: formatCount(failed) },
    {
      label: t.successRate,
      value: success + failed === 0 ? '–' : `${((success / (success + failed)) * 100).toFixed(1)} %`,
    },
    { label: t.tokens, value: formatShort(sum(({ input, output }) => input + output)) },
    { label: t.cost, value: formatCost(sumRows(usage)), note: describeCost(usage) },
    { label: t.waitingItems, value: formatCount(statistics.buckets.at(-1)?.inbox.open ?? 0) },
  ];
}

/** Formats a chart's data for a spreadsheet: tab-separated columns, exact numbers, one line per step. */
export function toSpreadsheet({ times, series }: ChartModel): string {
  const head = ['time', ...series.map(({ label }) => formatCell(label))];
  const lines = times.map((time, index) => [
    new Date(time * 1000).toISOString(),
    ...series.map(({ values }) => String(values[index] ?? '')),
  ]);
  return `${[head, ...lines].map((columns) => columns.join('\t')).join('\n')}\n`;
}

export function describeTime(seconds: number): string {
  return formatMoment(new Date(seconds * 1000).toISOString(), null);
}

/** Formats a label of the time axis: the date at midnight, otherwise the time of day. */
export function formatTimeMark(seconds: number): string {
  const moment = describeTime(seconds);
  return moment.endsWith(' 00:00') ? moment.slice(5, 10) : moment.slice(5);
}
