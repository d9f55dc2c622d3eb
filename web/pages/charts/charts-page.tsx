import { useMemo } from 'preact/hooks';
import { query, setQuery } from '../../app/router.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { Notice } from '../../ui/notice.js';
import { ChartCard } from './chart-card.js';
import { enginesOf, hasFigures, toCharts } from './chart-model.js';
import { RANGES, readRange, spanOf } from './chart-range.js';
import type { Range } from './chart-range.js';
import { useLook } from './use-look.js';
import './charts.css';

const NAMES: readonly Range[] = ['hour', 'day', 'week', 'month'];

/** How runs went over time: as lines, and the same figures as tables. */
export function ChartsPage() {
  const range = readRange(query.value.get('range'));
  const engine = query.value.get('engine');
  const look = useLook();
  const statistics = useResource(
    `statistics ${range}`,
    (signal) => client.readStatistics({ query: spanOf(range, Date.now()), signal }),
    { live: true },
  );
  // Most answers are as the one before: then nothing is drawn again.
  const told = statistics.value === null ? null : JSON.stringify(statistics.value.buckets);
  const charts = useMemo(() => (statistics.value === null ? [] : toCharts(statistics.value, engine)), [told, engine]);
  const engines = statistics.value === null ? [] : enginesOf(statistics.value);
  return (
    <div class="charts">
      <div class="page-head">
        <h1>Charts</h1>
      </div>
      <div class="filters">
        <label>
          Time
          <select value={range} onChange={({ currentTarget }) => setQuery({ range: currentTarget.value })}>
            {NAMES.map((name) => (
              <option key={name} value={name}>
                {RANGES[name].label}
              </option>
            ))}
          </select>
        </label>
        <label>
          Engine
          <select value={engine ?? ''} onChange={({ currentTarget }) => setQuery({ engine: currentTarget.value })}>
            <option value="">All</option>
            {[...new Set([...engines, ...(engine === null ? [] : [engine])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      {statistics.failure === null ? null : (
        <Notice tone="bad" title={statistics.failure.code} action={{ label: 'Try again', run: statistics.reload }}>
          {statistics.failure.message}
        </Notice>
      )}
      {statistics.value?.complete === false ? (
        <Notice tone="warn" title="Not everything is counted">
          There was more than can be counted in this time: the oldest is missing. Choose a shorter time.
        </Notice>
      ) : null}
      {statistics.value !== null && !charts.some(hasFigures) ? (
        <Notice tone="plain" title="Nothing happened in this time">
          Choose a longer time, or <a href="/runs">start a run</a>.
        </Notice>
      ) : null}
      {statistics.value === null && statistics.failure === null ? (
        <p class="loading" aria-busy="true">
          Loading …
        </p>
      ) : (
        <div class="chart-grid">
          {charts.map((chart) => (
            <ChartCard key={chart.id} chart={chart} look={look} />
          ))}
        </div>
      )}
    </div>
  );
}
