import { formatCount, formatMoney } from '../../ui/amount.js';
import { SafeText } from '../../ui/safe-text.js';
import type { UsageRow } from './chart-model.js';

/** Usage by engine and model over the whole period; each row links to its runs. */
export function UsageTable({ rows, since }: { readonly rows: readonly UsageRow[]; readonly since: string }) {
  if (rows.length === 0) return null;
  const total = (read: (row: UsageRow) => number): number => rows.reduce((sum, row) => sum + read(row), 0);
  return (
    <section class="card chart usage" aria-labelledby="usage">
      <div class="chart-head">
        <h2 id="usage">Usage by model</h2>
        <p class="help">Only engines that report tokens and cost are included.</p>
      </div>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Tokens and cost">
        <table>
          <thead>
            <tr>
              <th scope="col">Engine</th>
              <th scope="col">Model</th>
              {['Runs', 'Input', 'Cached', 'Output', 'Cost'].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 50).map((row) => (
              <tr key={`${row.engine} ${row.model}`}>
                <th scope="row">
                  <a href={buildUsagePath(row, since)}>{row.engine}</a>
                </th>
                <td>
                  {row.model === null ? <span class="dim">Unknown</span> : <SafeText text={row.model} limit={100} />}
                </td>
                <td class="number">{formatCount(row.runs)}</td>
                <td class="number">{formatCount(row.input)}</td>
                <td class="number">{formatCount(row.cached)}</td>
                <td class="number">{formatCount(row.output)}</td>
                <td class="number">{formatMoney(row.cost)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total
              </th>
              <td class="number">{formatCount(total(({ runs }) => runs))}</td>
              <td class="number">{formatCount(total(({ input }) => input))}</td>
              <td class="number">{formatCount(total(({ cached }) => cached))}</td>
              <td class="number">{formatCount(total(({ output }) => output))}</td>
              <td class="number">{formatMoney(total(({ cost }) => cost))}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </section>
  );
}

/** Builds the path to the runs a row includes; if the model is unknown, to all of the engine's runs. */
function buildUsagePath({ engine, model }: UsageRow, since: string): string {
  const parameters = { engine, ...(model === null ? {} : { model }), ended_since: since };
  return `/runs?${new URLSearchParams(parameters).toString()}`;
}
