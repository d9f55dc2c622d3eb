import { useMemo, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import {
  formatTotalCost,
  isPriced,
  listEngineNames,
  hasData,
  sumUsage,
  summarizePeriod,
  toCharts,
  buildListPath,
  describePeak,
  formatValue,
  summarizeSeries,
  toSpreadsheet,
} from './chart-model.js';
import type { ChartModel, Series, UsageRow } from './chart-model.js';
import type { StatisticsView } from '../../../src/server/api/index.js';
import { query, setQuery, navigate } from '../../app/router.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { FailureNotice, Loading, Notice } from '../../ui/notice.js';
import { Options } from '../../ui/form.js';
import { FilterField } from '../../ui/list-page.js';
import { DataTable } from '../../ui/row-table.js';
import { CopyButton } from '../../ui/button.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatCount, formatMoney, formatMoment } from '../../ui/format.js';
import './charts.css';

const NAMES: readonly Range[] = ['hour', 'day', 'week', 'month'];

/** Run outcomes and costs over time, as bar charts and as tables. */
export function ChartsPage() {
  const range = readRange(query.value.get('range'));
  const engine = query.value.get('engine');
  const statistics = useResource(
    `statistics ${range}`,
    (signal) => client.readStatistics({ query: buildStatisticsQuery(range, Date.now()), signal }),
    { live: true },
  );
  // The previous period's charts stay until the new ones are loaded.
  const last = useRef<StatisticsView | null>(null);
  last.current = statistics.value ?? last.current;
  const currentStatistics = last.current;
  // Most responses equal the previous one and need no redraw.
  const bucketsKey = currentStatistics === null ? null : JSON.stringify(currentStatistics.buckets);
  const charts = useMemo(
    () => (currentStatistics === null ? [] : toCharts(currentStatistics, engine)),
    [bucketsKey, engine],
  );
  const engines = currentStatistics === null ? [] : listEngineNames(currentStatistics);
  return (
    <div class="charts">
      <div class="page-head">
        <h1>Charts</h1>
      </div>
      <div class="filters">
        <label>
          Period
          <select
            value={range}
            onChange={({ currentTarget }) => setQuery({ range: currentTarget.value }, { isStep: true })}
          >
            <Options options={NAMES.map((value) => ({ value, label: RANGES[value].label }))} />
          </select>
        </label>
        <FilterField
          filter={{
            name: 'engine',
            label: 'Engine',
            kind: 'choice',
            options: [...new Set([...engines, ...(engine === null ? [] : [engine])])],
          }}
        />
      </div>
      {statistics.failure === null ? null : (
        <FailureNotice title="Cannot load the statistics" failure={statistics.failure} reload={statistics.reload} />
      )}
      {statistics.value?.complete === false ? (
        <Notice tone="warn" title="Incomplete statistics">
          This period has too many runs to count, so the oldest are missing. Choose a shorter period.
        </Notice>
      ) : null}
      {statistics.value !== null && !charts.some(hasData) ? (
        <Notice tone="plain" title="No data in this period">
          Choose a longer period, or <a href="/runs">start a run</a>.
        </Notice>
      ) : null}
      {currentStatistics === null && statistics.failure === null ? (
        <Loading />
      ) : (
        <div class="chart-page" aria-busy={statistics.value === null}>
          <dl class="summary-row">
            {currentStatistics === null
              ? null
              : summarizePeriod(currentStatistics, engine).map(({ label, value, note = '' }) => (
                  <div key={label} class="card">
                    <dt>{label}</dt>
                    <dd>{value}</dd>
                    {note === '' ? null : <dd class="summary-note">{note}</dd>}
                  </div>
                ))}
          </dl>
          <div class="chart-grid">
            {charts.map((chart) => (
              <ChartCard key={chart.id} chart={chart} />
            ))}
          </div>
          {currentStatistics === null ? null : (
            <UsageTable rows={sumUsage(currentStatistics, engine)} since={currentStatistics.since} />
          )}
        </div>
      )}
    </div>
  );
}

/** One chart: a strip of bars for each series, with its name and its total, and the same numbers as a table. */
export function ChartCard({ chart }: Readonly<{ chart: ChartModel }>) {
  const visibleSeries = chart.series.filter(({ values }) => values.some((value) => (value ?? 0) > 0));
  const empty = chart.series.filter((series) => !visibleSeries.includes(series));
  const highest = Math.max(1e-9, ...visibleSeries.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <section class="card chart" aria-labelledby={`chart-${chart.id}`}>
      <div class="chart-head">
        <h2 id={`chart-${chart.id}`}>{chart.title}</h2>
        <p class="help">{chart.help}</p>
      </div>
      {hasData(chart) ? null : <p class="dim">No data in this period.</p>}
      <ul class="strips" aria-label="Series">
        {visibleSeries.map((series) => (
          <li key={series.label}>
            <SafeText as="span" class="strip-name" text={series.label} limit={100} />
            <Bars chart={chart} series={series} highest={highest} />
            <span class="strip-sum">
              {summarizeSeries(series, chart)}
              <span class="strip-peak">{describePeak(series, chart)}</span>
            </span>
          </li>
        ))}
      </ul>
      {visibleSeries.length === 0 ? null : <Axis times={chart.times} />}
      {empty.length === 0 || visibleSeries.length === 0 ? null : (
        <p class="dim small">
          {chart.emptyText ?? 'No data for'} <SafeText text={empty.map(({ label }) => label).join(', ')} limit={200} />
        </p>
      )}
      {visibleSeries.length === 0 ? null : <ChartTable chart={chart} />}
    </section>
  );
}

const HEIGHT = 34;

/** A series' bars, on the chart's scale. Clicking a bar opens its runs; the table has the same links. */
function Bars({ chart, series, highest }: Readonly<{ chart: ChartModel; series: Series; highest: number }>) {
  const { times, unit } = chart;
  const width = times.length;
  const onClick = (event: MouseEvent): void => {
    const index = event.target instanceof Element ? Number(event.target.getAttribute('data-index') ?? 'x') : Number.NaN;
    const path = Number.isNaN(index) ? null : buildListPath(series, times, index);
    if (path !== null) navigate(path);
  };
  return (
    <svg
      class={`strip ${series.tone}${series.listFilter === null ? '' : ' linked'}`}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onClick={onClick}
    >
      <path class="strip-base" d={`M0 ${HEIGHT - 0.5}H${width}`} />
      {series.values.map((value, index) => {
        if (value === null || value <= 0) return null;
        const height = Math.max(1.5, (value / highest) * (HEIGHT - 1));
        return (
          <g key={index}>
            <rect class="strip-bar" x={index + 0.1} y={HEIGHT - height} width={0.8} height={height} />
            {/* Makes the full height clickable. */}
            <rect class="strip-hit" data-index={index} x={index} y={0} width={1} height={HEIGHT}>
              <title>{`${describeTime(times[index] ?? 0)}: ${formatValue(value, unit)} ${series.label.slice(0, 60)}`}</title>
            </rect>
          </g>
        );
      })}
    </svg>
  );
}

function describeTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString('en-CA', { hour12: false });
}

/** A longer axis shows dates instead of times of day. */
const MAX_TIME_AXIS_S = 2 * 86_400;

function Axis({ times }: Readonly<{ times: readonly number[] }>) {
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > MAX_TIME_AXIS_S;
  const marks = [times[0], times[Math.floor(times.length / 2)], times.at(-1)];
  return (
    <div class="strip-axis" aria-hidden="true">
      <span />
      <span class="strip-marks">
        {marks.map((mark, index) => (
          <span key={index}>
            {mark === undefined ? '' : isLong ? describeTime(mark).slice(5, 10) : formatTimeMark(mark)}
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

function ChartTable({ chart }: Readonly<{ chart: ChartModel }>) {
  const { title, times, series, unit } = chart;
  const renderValue = (one: Series, index: number): ComponentChildren => {
    const value = one.values[index] ?? null;
    const path = value === null || value <= 0 ? null : buildListPath(one, times, index);
    return path === null ? formatValue(value, unit) : <a href={path}>{formatValue(value, unit)}</a>;
  };
  const rows = times.flatMap((time, index) =>
    series.some(({ values }) => (values[index] ?? 0) > 0)
      ? [[describeTime(time), ...series.map((one) => renderValue(one, index))]]
      : [],
  );
  return (
    <details>
      <summary>Data</summary>
      <CopyButton label="Copy data" read={() => toSpreadsheet(chart)} />
      <DataTable
        label={`Data for ${title}`}
        class="chart-table"
        caption={`${title}; empty periods are omitted`}
        head={['Time', ...series.map(({ label }) => <SafeText text={label} limit={100} />)]}
        rows={rows}
      />
    </details>
  );
}

/** Usage by engine and model over the whole period; each row links to its runs. */
export function UsageTable({ rows, since }: Readonly<{ rows: readonly UsageRow[]; since: string }>) {
  if (rows.length === 0) return null;
  const total = (name: (typeof COUNTED)[number]): string => formatCount(rows.reduce((sum, row) => sum + row[name], 0));
  return (
    <section class="card chart usage" aria-labelledby="usage">
      <div class="chart-head">
        <h2 id="usage">Usage by model</h2>
        <p class="help">Only engines that report tokens and cost are included.</p>
      </div>
      <DataTable
        label="Tokens and cost"
        head={['Engine', 'Model', 'Runs', 'Input', 'Cached', 'Output', 'Cost']}
        numbersFrom={2}
        rows={rows
          .slice(0, 50)
          .map((row) => [
            <a href={buildUsagePath(row, since)}>{row.engine}</a>,
            row.model === null ? <span class="dim">Unknown</span> : <SafeText text={row.model} limit={100} />,
            ...COUNTED.map((name) => formatCount(row[name])),
            isPriced(row) ? formatMoney(row.cost) : '–',
          ])}
        foot={['Total', '', ...COUNTED.map(total), formatTotalCost(rows)]}
      />
    </section>
  );
}

const COUNTED = ['runs', 'input', 'cached', 'output'] as const;

/** Builds the path to the runs a row includes; if the model is unknown, to all of the engine's runs. */
function buildUsagePath({ engine, model }: UsageRow, since: string): string {
  const parameters = { engine, ...(model === null ? {} : { model }), ended_since: since };
  return `/runs?${new URLSearchParams(parameters).toString()}`;
}

/** A period to chart. */
export type Range = 'hour' | 'day' | 'week' | 'month';

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;

/** Each range with its length and a step that results in 30 to 60 points. */
export const RANGES: Readonly<Record<Range, Readonly<{ label: string; lengthS: number; stepS: number }>>> = {
  hour: { label: 'Last hour', lengthS: 60 * MINUTE_S, stepS: MINUTE_S },
  day: { label: 'Last 24 hours', lengthS: DAY_S, stepS: 30 * MINUTE_S },
  week: { label: 'Last 7 days', lengthS: 7 * DAY_S, stepS: 180 * MINUTE_S },
  month: { label: 'Last 30 days', lengthS: 30 * DAY_S, stepS: DAY_S },
};

/** Reads the range from the address. */
export function readRange(name: string | null): Range {
  return NAMES.find((known) => known === name) ?? 'day';
}

/** Builds the query of a period. It starts at a multiple of the step, so points do not move between polls. */
export function buildStatisticsQuery(range: Range, now: number): Readonly<{ since: string; step: number }> {
  const { lengthS, stepS } = RANGES[range];
  const stepMs = stepS * 1000;
  const since = Math.ceil((now - lengthS * 1000) / stepMs) * stepMs;
  return { since: new Date(since).toISOString(), step: stepS };
}

/** Formats a label below a chart: the date at midnight, otherwise the time of day. */
export function formatTimeMark(seconds: number): string {
  const moment = formatMoment(new Date(seconds * 1000).toISOString(), null);
  return moment.endsWith(' 00:00') ? moment.slice(5, 10) : moment.slice(11);
}
