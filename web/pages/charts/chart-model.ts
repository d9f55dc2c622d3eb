import type { StatisticsView } from '../../../src/api/index.js';
import { LEVEL_WORDS } from '../../ui/repair-level.js';
import { formatDuration } from '../../ui/time.js';

type Bucket = StatisticsView['buckets'][number];
type Figures = Bucket['runs'][number];

/** A colour by what it means; the page has one for each in both themes. */
export type SeriesTone = 'good' | 'warn' | 'bad' | 'accent' | 'dim' | 'text';

/** One line of a chart; null where there is no figure. */
interface Series {
  readonly label: string;
  readonly tone: SeriesTone;
  readonly values: readonly (number | null)[];
}

/** One chart: the same figures are drawn and written as a table. */
export interface ChartModel {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  readonly unit: 'count' | 'duration';
  /** Counts of what happened add up; a state does not: its last figure is shown. */
  readonly isState: boolean;
  /** When each step begins, in seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

/** Lines in one chart, at most: more cannot be distinguished. */
const MOST_LINES = 6;
const TONES: readonly SeriesTone[] = ['accent', 'warn', 'bad', 'good', 'text', 'dim'];

/** The engines that have figures, for a choice. */
export function listEngineNames({ buckets }: StatisticsView): readonly string[] {
  const names = buckets.flatMap(({ runs, drift }) => [...runs, ...drift].map(({ engine }) => engine));
  return [...new Set(names)].sort();
}

/** The charts of some figures: of one engine, or of all. The inbox does not know engines. */
export function toCharts({ buckets }: StatisticsView, engine: string | null): readonly ChartModel[] {
  const times = buckets.map(({ at }) => Date.parse(at) / 1000);
  const chosen = buckets.map(({ runs }) => runs.filter((one) => engine === null || one.engine === engine));
  const sum = (read: (figures: Figures) => number): readonly number[] =>
    chosen.map((runs) => runs.reduce((soFar, figures) => soFar + read(figures), 0));
  const count = { unit: 'count', times, isState: false } as const;
  const duration = { unit: 'duration', times, isState: false } as const;
  return [
    {
      ...count,
      id: 'outcomes',
      title: 'Outcomes',
      help: 'Finished runs by outcome.',
      series: [
        { label: 'success', tone: 'good', values: sum(({ outcomes }) => outcomes.success) },
        { label: 'failed', tone: 'bad', values: sum(({ outcomes }) => outcomes.failed) },
        { label: 'comment', tone: 'warn', values: sum(({ outcomes }) => outcomes.comment) },
        { label: 'canceled', tone: 'dim', values: sum(({ outcomes }) => outcomes.canceled) },
      ],
    },
    {
      ...count,
      id: 'repairs',
      title: 'Repair levels',
      help: 'How much the output had to be changed.',
      series: [
        { label: LEVEL_WORDS.none, tone: 'good', values: sum((one) => one.repair_levels.none) },
        {
          label: LEVEL_WORDS.deterministic_generic,
          tone: 'warn',
          values: sum((one) => one.repair_levels.deterministic_generic),
        },
        { label: LEVEL_WORDS.schema_aligned, tone: 'accent', values: sum((one) => one.repair_levels.schema_aligned) },
      ],
    },
    {
      ...duration,
      id: 'latency',
      title: 'Latency',
      help: 'Median duration of a run (p50).',
      series: latencySeries(chosen, 'p50'),
    },
    {
      ...duration,
      id: 'slowest',
      title: 'Slowest runs',
      help: '95th percentile of the duration (p95).',
      series: latencySeries(chosen, 'p95'),
    },
    {
      ...count,
      id: 'drift',
      title: 'Drift',
      help: 'Unknown event types and fields, by engine version.',
      series: named(
        buckets.map(({ drift }) =>
          drift
            .filter((one) => engine === null || one.engine === engine)
            .map((one) => [
              `${one.engine} ${one.engine_version ?? '(version unknown)'}`,
              one.unknown_types + one.unknown_fields,
            ]),
        ),
      ),
    },
    {
      ...count,
      isState: true,
      id: 'inbox',
      title: 'Inbox',
      help: 'Items waiting for a person.',
      series: [{ label: 'open', tone: 'warn', values: buckets.map(({ inbox }) => inbox.open) }],
    },
    {
      ...duration,
      isState: true,
      id: 'age',
      title: 'Inbox age',
      help: 'Age of the oldest open item.',
      series: [{ label: 'oldest', tone: 'bad', values: buckets.map(({ inbox }) => inbox.oldest_age_ms) }],
    },
    {
      ...count,
      id: 'causes',
      title: 'Reasons for review',
      help: 'New inbox items by cause.',
      series: named(buckets.map((bucket) => bucket.needs_human.map((one) => [one.cause, one.count]))),
    },
  ];
}

/** Whether a chart has any figures. */
export function hasFigures({ series }: ChartModel): boolean {
  return series.some(({ values }) => values.some((value) => value !== null && value > 0));
}

/** A figure as people read it. */
export function formatFigure(value: number | null, unit: ChartModel['unit']): string {
  if (value === null) return '–';
  return unit === 'duration' ? formatDuration(value) : value.toLocaleString('en');
}

/** A short summary of a line: its total, its current value, or its maximum. */
export function summarizeSeries({ values }: Series, { unit, isState }: ChartModel): string {
  const known = values.filter((value) => value !== null);
  if (isState) return `now ${formatFigure(values.at(-1) ?? null, unit)}`;
  if (unit === 'duration') return known.length === 0 ? '' : `up to ${formatFigure(Math.max(...known), unit)}`;
  return formatFigure(
    known.reduce((soFar, value) => soFar + value, 0),
    unit,
  );
}

/** Percentiles of several engines cannot be added up: each has its own line, and each percentile its own chart. */
function latencySeries(chosen: readonly (readonly Figures[])[], percentile: 'p50' | 'p95'): readonly Series[] {
  const totals = new Map<string, number>();
  for (const { engine, outcomes } of chosen.flat()) {
    const runs = outcomes.success + outcomes.failed + outcomes.canceled + outcomes.comment;
    totals.set(engine, (totals.get(engine) ?? 0) + runs);
  }
  return largest(totals, MOST_LINES).map((engine, index) => ({
    label: engine,
    tone: TONES[index] ?? 'dim',
    values: chosen.map((runs) => runs.find((one) => one.engine === engine)?.latency_ms?.[percentile] ?? null),
  }));
}

/** A line for each of the largest names; the rest together. */
function named(buckets: readonly (readonly (readonly [string, number])[])[]): readonly Series[] {
  const totals = new Map<string, number>();
  for (const [name, value] of buckets.flat()) totals.set(name, (totals.get(name) ?? 0) + value);
  const shown = largest(totals, totals.size > MOST_LINES ? MOST_LINES - 1 : MOST_LINES);
  const lines = shown.map((label, index): Series => ({
    label,
    tone: TONES[index] ?? 'dim',
    values: buckets.map((bucket) => total(bucket, (name) => name === label)),
  }));
  if (shown.length === totals.size) return lines;
  const others = buckets.map((bucket) => total(bucket, (name) => !shown.includes(name)));
  return [...lines, { label: 'others', tone: 'dim', values: others }];
}

function total(bucket: readonly (readonly [string, number])[], fits: (name: string) => boolean): number {
  return bucket.reduce((sum, [name, value]) => (fits(name) ? sum + value : sum), 0);
}

function largest(totals: ReadonlyMap<string, number>, most: number): readonly string[] {
  return [...totals]
    .sort(([one, first], [other, second]) => second - first || one.localeCompare(other))
    .slice(0, most)
    .map(([name]) => name);
}

/**
 * Where a line has a figure between two gaps: there is no neighbour to draw a line to, so it needs a point.
 *
 * @example
 * lonePoints([1, 2, null, 3, null]) // [3]
 */
export function lonePoints(values: readonly (number | null)[]): number[] {
  const isThere = (index: number): boolean => (values[index] ?? null) !== null;
  return values.flatMap((_, index) => (isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? [index] : []));
}

/** The figures of a chart for a spreadsheet: columns between tabs, exact numbers, one line a step. */
export function toFiguresText({ times, series }: ChartModel): string {
  const head = ['time', ...series.map(({ label }) => cell(label))];
  const lines = times.map((time, index) => [
    new Date(time * 1000).toISOString(),
    ...series.map(({ values }) => String(values[index] ?? '')),
  ]);
  return `${[head, ...lines].map((columns) => columns.join('\t')).join('\n')}\n`;
}

/** Names come from engines: no tab or line of theirs makes a cell, and none is a formula. */
function cell(label: string): string {
  const flat = label.replace(/\s+/g, ' ');
  return /^[=+\-@]/.test(flat) ? `'${flat}` : flat;
}
