import { useMemo } from 'preact/hooks';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import {
  buildListPath,
  describeTime,
  findAxisEnd,
  formatSeriesValue,
  formatShortValue,
  formatTimeMark,
  hasData,
  isStacked,
  listEngineNames,
  summarizePeriod,
  summarizeSeries,
  toCharts,
  toSpreadsheet,
} from './chart-model.js';
import type { ChartModel, Series } from './chart-model.js';
import { MEASURES, sumByDay, toCsv, type Measure, sumRows, sumUsage, type UsageRow } from './usage.js';
import type { StatisticsView } from '../../../src/server/api/index.js';
import { query, setQuery } from '../../app/router.js';
import { client } from '../../data/client.js';
import {
  buildStatisticsQuery,
  PERIOD_NAMES,
  PERIODS,
  readPeriod,
  readStep,
  selectEngine,
  STEPS,
} from '../../data/period.js';
import { useResource } from '../../data/resource.js';
import { listStateOptions, FailureNotice, Loading, Notice, Button, CopyButton, Sentence } from '../../ui/parts.js';
import { Select, type Option } from '../../ui/form.js';
import { FilterField } from '../../ui/list-page.js';
import { DataTable } from '../../ui/row-table.js';
import { SafeText, formatCost, formatCount, type Cost } from '../../ui/text.js';
import { saveAs } from '../run/artifact.js';
import './charts.css';
import { t } from './texts.js';

export function ChartsPage() {
  const period = readPeriod(query.value.get('range'));
  const step = readStep(period, query.value.get('step'));
  const engine = query.value.get('engine');
  const statistics = useResource(
    `statistics ${period} ${step}`,
    async (signal) => {
      const span = buildStatisticsQuery(PERIODS[period].lengthS, STEPS[step], Date.now());
      return client.readStatistics({ query: span, signal });
    },
    { live: true },
  );
  // The previous period's charts stay until the new ones are loaded.
  const { last } = statistics;
  const shown = last === null ? null : selectEngine(last, engine);
  // Most responses equal the previous one and need no redraw.
  const bucketsKey = JSON.stringify(shown?.buckets);
  const charts = useMemo(() => (shown === null ? [] : toCharts(shown, engine)), [bucketsKey, engine]);
  const engines = last === null ? [] : listEngineNames(last);
  return (
    <div class="charts">
      <div class="page-head">
        <h1>{t.pages.charts}</h1>
      </div>
      <div class="filters">
        <Choice
          name="range"
          label={t.period}
          value={period}
          options={PERIOD_NAMES.map((value) => ({ value, label: PERIODS[value].label }))}
        />
        <Choice name="step" label={t.step} value={step} options={listStateOptions(PERIODS[period].steps)} />
        <FilterField
          filter={{
            name: 'engine',
            label: t.states.engine,
            kind: 'choice',
            options: [...new Set([...engines, ...(engine === null ? [] : [engine])])],
          }}
        />
      </div>
      {statistics.failure === null ? null : (
        <FailureNotice title={t.cannotLoadTheStatistics} failure={statistics.failure} reload={statistics.reload} />
      )}
      {statistics.value !== null && !charts.some(hasData) ? (
        <Notice tone="plain" title={t.noDataInThisPeriod}>
          <Sentence text={t.chooseALongerPeriodOr} />
        </Notice>
      ) : null}
      {shown === null && statistics.failure === null ? <Loading /> : null}
      {shown === null ? null : (
        <div class="chart-page stack" aria-busy={statistics.value === null}>
          <dl class="summary-row">
            {summarizePeriod(shown).map(({ label, value, note = '' }) => (
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
          <DayTable statistics={shown} />
          <UsageTable rows={sumUsage(shown)} since={shown.since} />
        </div>
      )}
    </div>
  );
}

function Choice(props: Readonly<{ name: string; label: string; value: string; options: readonly Option[] }>) {
  const { name, label, value, options } = props;
  return (
    <label class="chip">
      {label}
      <Select value={value} options={options} onChange={(next) => setQuery({ [name]: next }, { isStep: true })} />
    </label>
  );
}

/** One chart: bars on a common axis, a legend with totals, and the same numbers as a table. */
function ChartCard({ chart }: Readonly<{ chart: ChartModel }>) {
  const visibleSeries = chart.series.filter(({ values }) => values.some((value) => (value ?? 0) > 0));
  const empty = chart.series.filter((series) => !visibleSeries.includes(series));
  const visible = { ...chart, series: visibleSeries };
  return (
    <section class="card chart" aria-labelledby={`chart-${chart.id}`}>
      <div class="chart-head">
        <h2 id={`chart-${chart.id}`}>{chart.title}</h2>
        <p class="help">{chart.help}</p>
      </div>
      {hasData(chart) ? <Bars chart={visible} /> : <p class="dim">{t.noData}</p>}
      {visibleSeries.length === 0 ? null : (
        <>
          <Legend chart={visible} unreported={empty} />
          <ChartTable chart={chart} />
        </>
      )}
    </section>
  );
}

/** The class that colours a series: by meaning, or by its position if it has none. */
function chooseColour({ tone }: Series, index: number): string {
  return tone === 'accent' ? `series-${index}` : tone;
}

/** A bar for each step, stacked if its values add up: a link to the runs behind it. The arrow keys move between bars. */
function Bars({ chart }: Readonly<{ chart: ChartModel }>) {
  const end = findAxisEnd(chart);
  const { times, series, unit, unreported = [] } = chart;
  // The Tab key reaches the first bar of the last step that has a link.
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
              const value = one.values[step] ?? 0;
              if (value <= 0) return null;
              const path = buildListPath(one, times, step);
              const title = `${describeTime(time)}: ${formatSeriesValue(one, value, unit)} ${one.label.slice(0, 60)}`;
              const style = { height: `${(value / end) * 100}%` };
              const shared = { class: `bar ${chooseColour(one, index)}`, style, title };
              if (path === null) return <span key={one.label} {...shared} />;
              const isFirst = step === lastStep && series.findIndex((other) => hasLink(chart, other, step)) === index;
              return <a key={one.label} {...shared} href={path} aria-label={title} tabIndex={isFirst ? 0 : -1} />;
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
function Legend({ chart, unreported }: Readonly<{ chart: ChartModel; unreported: readonly Series[] }>) {
  const names = unreported.map(({ label }) => label).join(', ');
  return (
    <ul class="list legend" aria-label={t.series}>
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
            {chart.emptyText ?? t.noDataFor}
            <SafeText text={names} limit={200} />
          </span>
        </li>
      )}
    </ul>
  );
}

function ChartTable({ chart }: Readonly<{ chart: ChartModel }>) {
  const { title, times, series, unit } = chart;
  const renderValue = (one: Series, index: number): ComponentChildren => {
    const value = one.values[index] ?? null;
    const path = value === null || value <= 0 ? null : buildListPath(one, times, index);
    const shown = formatSeriesValue(one, value, unit);
    return path === null ? shown : <a href={path}>{shown}</a>;
  };
  const rows = times.flatMap((time, index) =>
    series.some(({ values }) => (values[index] ?? 0) > 0)
      ? [[describeTime(time), ...series.map((one) => renderValue(one, index))]]
      : [],
  );
  return (
    <details>
      <summary>{t.data}</summary>
      <CopyButton label={t.copyData} read={() => toSpreadsheet(chart)} />
      <DataTable
        label={t.dataFor(title)}
        class="chart-table"
        caption={t.emptyPeriodsAreOmitted(title)}
        head={[t.time, ...series.map(({ label }) => <SafeText text={label} limit={100} />)]}
        rows={rows}
      />
    </details>
  );
}

/** Cost, tokens or runs by engine and day, with totals; also as a file. */
function DayTable({ statistics }: Readonly<{ statistics: StatisticsView }>) {
  const chosen = query.value.get('measure');
  const measure = (Object.keys(MEASURES) as Measure[]).find((name) => name === chosen) ?? 'cost';
  const table = sumByDay(statistics, measure);
  if (table.rows.length === 0) return null;
  const { unit } = MEASURES[measure];
  const format = (sum: Cost): string => {
    if (sum.value === 0 && sum.isComplete) return '';
    return unit === 'money' ? formatCost(sum) : formatCount(sum.value);
  };
  const name = `sluice-${measure}-${table.days[0] ?? ''}.csv`;
  return (
    <section class="card chart usage" aria-labelledby="by-day">
      <div class="chart-head">
        <h2 id="by-day">{t.dailyTotals}</h2>
        <p class="help">{t.byEngineDaysBeginAt}</p>
        <span class="row end">
          <Choice
            name="measure"
            label={t.show}
            value={measure}
            options={Object.entries(MEASURES).map(([value, { label }]) => ({ value, label }))}
          />
          <Button label={t.downloadCsv} onClick={() => saveAs(name, new TextEncoder().encode(toCsv(table)))} />
        </span>
      </div>
      <DataTable
        label={t.byDay(MEASURES[measure].label)}
        head={[t.states.engine, ...table.days.map((day) => day.slice(5)), t.total]}
        numbersFrom={1}
        rows={table.rows.map((row) => [row.engine, ...row.sums.map(format), format(row.total)])}
        foot={[t.total, ...table.totals.map(format), format(table.total)]}
      />
    </section>
  );
}

/** Usage by engine and model over the whole period; each row links to its runs. */
function UsageTable({ rows, since }: Readonly<{ rows: readonly UsageRow[]; since: string }>) {
  if (rows.length === 0) return null;
  const total = (name: (typeof COUNTED)[number]): string => formatCount(rows.reduce((sum, row) => sum + row[name], 0));
  return (
    <section class="card chart usage" aria-labelledby="usage">
      <div class="chart-head">
        <h2 id="usage">{t.usageByModel}</h2>
        <p class="help">{t.onlyEnginesThatReportTokens}</p>
      </div>
      <DataTable
        label={t.tokensAndCost}
        head={[t.states.engine, t.states.model, t.pages.runs, t.input, t.cached, t.states.output, t.cost]}
        numbersFrom={2}
        rows={rows
          .slice(0, 50)
          .map((row) => [
            <a href={buildUsagePath(row, since)}>{row.engine}</a>,
            row.model === null ? (
              <span class="dim">{t.states.unknown}</span>
            ) : (
              <SafeText text={row.model} limit={100} />
            ),
            ...COUNTED.map((name) => formatCount(row[name])),
            formatCost(row.cost),
          ])}
        foot={[t.total, '', ...COUNTED.map(total), formatCost(sumRows(rows))]}
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
