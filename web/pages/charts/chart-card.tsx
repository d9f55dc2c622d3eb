import type { ComponentChildren } from 'preact';
import { navigate } from '../../app/router.js';
import { CopyButton } from '../../ui/copy-button.js';
import { SafeText } from '../../ui/safe-text.js';
import { buildListPath, describePeak, formatValue, hasData, summarizeSeries, toSpreadsheet } from './chart-model.js';
import type { ChartModel, Series } from './chart-model.js';
import { formatTimeMark } from './chart-range.js';

/** One chart: a strip of bars for each series, with its name and its total, and the same numbers as a table. */
export function ChartCard({ chart }: { readonly chart: ChartModel }) {
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
            <span class="strip-name">
              <SafeText text={series.label} limit={100} />
            </span>
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
          No data for <SafeText text={empty.map(({ label }) => label).join(', ')} limit={200} />
        </p>
      )}
      {visibleSeries.length === 0 ? null : <ChartTable chart={chart} />}
    </section>
  );
}

const HEIGHT = 34;

/** A series' bars, on the chart's scale. Clicking a bar opens its runs; the table has the same links. */
function Bars({
  chart,
  series,
  highest,
}: {
  readonly chart: ChartModel;
  readonly series: Series;
  readonly highest: number;
}) {
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

/** The axis, with labels for the first, the middle and the last step. */
function Axis({ times }: { readonly times: readonly number[] }) {
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

function ChartTable({ chart }: { readonly chart: ChartModel }) {
  const { title, times, series } = chart;
  const steps = times.flatMap((time, index) =>
    series.some(({ values }) => (values[index] ?? 0) > 0) ? [{ time, index }] : [],
  );
  return (
    <details>
      <summary>Data</summary>
      <CopyButton label="Copy data" read={() => toSpreadsheet(chart)} />
      <div class="table-scroll chart-table" tabIndex={0} role="region" aria-label={`Data for ${title}`}>
        <table>
          <caption class="visually-hidden">{title}; empty periods are omitted</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  <SafeText text={label} limit={100} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map(({ time, index }) => (
              <tr key={time}>
                <th scope="row">{describeTime(time)}</th>
                {series.map((one) => (
                  <td key={one.label}>
                    <ValueCell chart={chart} series={one} index={index} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function ValueCell({
  chart,
  series,
  index,
}: {
  readonly chart: ChartModel;
  readonly series: Series;
  readonly index: number;
}): ComponentChildren {
  const value = series.values[index] ?? null;
  const text = formatValue(value, chart.unit);
  const path = value === null || value <= 0 ? null : buildListPath(series, chart.times, index);
  return path === null ? text : <a href={path}>{text}</a>;
}
