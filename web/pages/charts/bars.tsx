import type { TargetedKeyboardEvent } from 'preact';
import { formatMoment } from '../../ui/format.js';
import { SafeText } from '../../ui/safe-text.js';
import {
  buildListPath,
  findAxisEnd,
  formatSeriesValue,
  formatShortValue,
  isStacked,
  summarizeSeries,
} from './chart-model.js';
import type { ChartModel, Series } from './chart-model.js';
import { t } from './texts.js';

/** The class that colours a series: by meaning, or by its position if it has none. */
function chooseColour({ tone }: Series, index: number): string {
  return tone === 'accent' ? `series-${index}` : tone;
}

/**
 * A bar for each step, stacked if its values add up, on axes of value and time. A bar is a link to the runs behind it;
 * the arrow keys move between bars.
 */
export function Bars({ chart }: Readonly<{ chart: ChartModel }>) {
  const end = findAxisEnd(chart);
  const { times, series, unit, unreported = [] } = chart;
  const lastStep = times.findLastIndex((_, step) => series.some((one) => hasLink(chart, one, step)));
  return (
    <div class="plot" role="group" aria-label={t.bars}>
      <div class="value-axis" aria-hidden="true">
        {[end, end / 2, 0].map((value) => (
          <span key={value}>{formatShortValue(value, unit)}</span>
        ))}
      </div>
      <div class={isStacked(chart) ? 'bars stacked' : 'bars'} onKeyDown={moveFocus}>
        {times.map((time, step) => (
          <div key={time} class="bar-step">
            {series.map((one, index) => {
              const isFirst = step === lastStep && series.findIndex((other) => hasLink(chart, other, step)) === index;
              return <Bar key={one.label} chart={chart} index={index} step={step} end={end} isFirst={isFirst} />;
            })}
            {(unreported[step] ?? []).length === 0 ? null : (
              <span
                class="bar hatched"
                title={t.notReportedBy(describeTime(time), (unreported[step] ?? []).join(', ').slice(0, 200))}
              />
            )}
          </div>
        ))}
      </div>
      <div class="time-axis" aria-hidden="true">
        {[times[0], times[Math.floor(times.length / 2)], times.at(-1)].map((mark, index) => (
          <span key={index}>{mark === undefined ? '' : formatTimeMark(mark)}</span>
        ))}
      </div>
    </div>
  );
}

function hasLink({ times }: ChartModel, series: Series, step: number): boolean {
  return (series.values[step] ?? 0) > 0 && buildListPath(series, times, step) !== null;
}

interface BarProps {
  readonly chart: ChartModel;
  readonly index: number;
  readonly step: number;
  readonly end: number;
  /** Whether the Tab key reaches this bar. */
  readonly isFirst: boolean;
}

function Bar({ chart, index, step, end, isFirst }: BarProps) {
  const { times, unit } = chart;
  const series = chart.series[index];
  const value = series?.values[step] ?? 0;
  if (series === undefined || value <= 0) return null;
  const path = buildListPath(series, times, step);
  const shared = {
    class: `bar ${chooseColour(series, index)}`,
    style: { height: `${(value / end) * 100}%` },
    title: `${describeTime(times[step] ?? 0)}: ${formatSeriesValue(series, value, unit)} ${series.label.slice(0, 60)}`,
  };
  if (path === null) return <span {...shared} />;
  return <a {...shared} href={path} aria-label={shared.title} tabIndex={isFirst ? 0 : -1} />;
}

function listLinks(step: Element): readonly HTMLElement[] {
  return [...step.querySelectorAll('a')];
}

/** Moves the focus to the bar above or below, or to a bar of the next step that has one. */
function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const bar = event.target instanceof Element ? event.target.closest('a') : null;
  const own = bar?.parentElement;
  if (bar === null || own === null || own === undefined) return;
  const position = listLinks(own).indexOf(bar);
  const vertical = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
  const horizontal = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (vertical === 0 && horizontal === 0) return;
  event.preventDefault();
  const steps = [...event.currentTarget.children].filter((step) => listLinks(step).length > 0);
  const next = listLinks(steps[steps.indexOf(own) + horizontal] ?? own);
  next[Math.min(next.length - 1, Math.max(0, position + vertical))]?.focus();
}

/** The colours of a chart's series, with their totals, and the series without values. */
export function Legend({ chart, unreported }: Readonly<{ chart: ChartModel; unreported: readonly Series[] }>) {
  const names = unreported.map(({ label }) => label).join(', ');
  return (
    <ul class="legend" aria-label={t.series}>
      {chart.series.map((series, index) => (
        <li key={series.label}>
          <span class={`swatch ${chooseColour(series, index)}`} />
          <SafeText text={series.label} limit={100} />
          <strong>{summarizeSeries(series, chart)}</strong>
        </li>
      ))}
      {names === '' ? null : (
        <li class="dim">
          {chart.unreported === undefined ? null : <span class="swatch hatched" />}
          <span>
            {chart.emptyText ?? t.noDataFor} <SafeText text={names} limit={200} />
          </span>
        </li>
      )}
    </ul>
  );
}

/** Formats the start of a step in local time. */
export function describeTime(seconds: number): string {
  return formatMoment(new Date(seconds * 1000).toISOString(), null);
}

/** Formats a label of the time axis: the date at midnight, otherwise the time of day. */
export function formatTimeMark(seconds: number): string {
  const moment = describeTime(seconds);
  return moment.endsWith(' 00:00') ? moment.slice(5, 10) : moment.slice(5);
}
