import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../../ui/copy-button.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatFigure, hasFigures, summarizeSeries, toFiguresText } from './chart-model.js';
import type { ChartModel } from './chart-model.js';

/** One chart, its lines in words, and the same figures as a table. `look` changes when the colours do. */
export function ChartCard({ chart, look }: { readonly chart: ChartModel; readonly look: string }) {
  const box = useRef<HTMLDivElement>(null);
  const isDrawn = hasFigures(chart);
  useEffect(() => {
    if (!isDrawn) return;
    let wanted = true;
    let remove: (() => void) | undefined;
    // The library is loaded with the first chart there is something to draw in.
    void (async () => {
      const { drawChart } = await import('./draw-chart.js');
      if (wanted && box.current !== null) remove = drawChart(box.current, chart);
    })();
    return () => {
      wanted = false;
      remove?.();
    };
  }, [chart, look, isDrawn]);
  return (
    <section class="card chart" aria-labelledby={`chart-${chart.id}`}>
      <h2 id={`chart-${chart.id}`}>{chart.title}</h2>
      <p class="help">{chart.help}</p>
      {isDrawn ? (
        <div class="plot" ref={box} aria-hidden="true" />
      ) : (
        <p class="plot nothing dim">No data in this period.</p>
      )}
      <ul class="legend" aria-label="Lines">
        {chart.series.map((series, index) => (
          <li key={series.label}>
            <svg class={`key ${series.tone} dash-${index}`} width="24" height="8" aria-hidden="true">
              <path d="M0 4h24" />
            </svg>
            <SafeText text={series.label} limit={100} /> <span class="dim">({summarizeSeries(series, chart)})</span>
          </li>
        ))}
      </ul>
      {isDrawn ? <Figures chart={chart} /> : null}
    </section>
  );
}

function Figures({ chart }: { readonly chart: ChartModel }) {
  const { title, times, series, unit } = chart;
  const steps = times.flatMap((time, index) =>
    series.some(({ values }) => (values[index] ?? 0) > 0) ? [{ time, index }] : [],
  );
  return (
    <details>
      <summary>Figures</summary>
      <CopyButton label="Copy figures" read={() => toFiguresText(chart)} />
      <div class="table-scroll figures" tabIndex={0} role="region" aria-label={`Figures of ${title}`}>
        <table>
          <caption class="unseen">{title}; empty periods are omitted</caption>
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
                <th scope="row">{new Date(time * 1000).toLocaleString('en-CA', { hour12: false })}</th>
                {series.map(({ label, values }) => (
                  <td key={label}>{formatFigure(values[index] ?? null, unit)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
