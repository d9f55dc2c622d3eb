import { useMemo, useRef } from 'preact/hooks';
import type { StatisticsView } from '../../../src/api/index.js';
import { query, setQuery } from '../../app/router.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FailureNotice, Loading, Notice } from '../../ui/notice.js';
import { FilterChoice } from '../../ui/filter-field.js';
import { ChartCard } from './chart-card.js';
import { UsageTable } from './usage-table.js';
import { listEngineNames, hasData, sumUsage, summarizePeriod, toCharts } from './chart-model.js';
import { RANGES, readRange, buildStatisticsQuery } from './chart-range.js';
import type { Range } from './chart-range.js';
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
            {NAMES.map((name) => (
              <option key={name} value={name}>
                {RANGES[name].label}
              </option>
            ))}
          </select>
        </label>
        <FilterChoice
          name="engine"
          label="Engine"
          options={[...new Set([...engines, ...(engine === null ? [] : [engine])])]}
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
              : summarizePeriod(currentStatistics, engine).map(([label, value]) => (
                  <div key={label} class="card">
                    <dt>{label}</dt>
                    <dd>{value}</dd>
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
