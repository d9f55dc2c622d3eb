import type { WorkerRecord, Budget } from '../../../src/store/records/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge, labelState, capitalize } from '../../ui/badge.js';
import { FailureNotice, Loaded, Notice, type Tone } from '../../ui/notice.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp, formatMoney, formatShort, formatMoment, formatTimeZone } from '../../ui/format.js';
import { toPath } from '../../app/route.js';
import { describeBudget } from '../../ui/waiting-for.js';
import './workers.css';

const TONES: Readonly<Record<WorkerRecord['state'], Tone>> = { alive: 'good', stopping: 'warn', gone: 'bad' };

const COLUMNS: readonly Column<WorkerRecord>[] = [
  {
    name: 'State',
    width: '7.5rem',
    cell: ({ state }) => <Badge tone={TONES[state]}>{labelState(state)}</Badge>,
  },
  {
    name: 'Host',
    class: 'wide',
    cell: ({ host, id }) => (
      <>
        <SafeText text={host} />
        <span class="below">{id}</span>
      </>
    ),
  },
  { name: 'Load', width: '11rem', cell: ({ busy, capacity }) => <Load busy={busy} capacity={capacity} /> },
  { name: 'Version', width: '7rem', class: 'nowrap', cell: ({ version }) => <SafeText text={version} /> },
  { name: 'Engines', width: '34%', cell: ({ engines }) => <SafeText text={engines.join(', ')} limit={300} /> },
  { name: 'Last seen', width: '9.5rem', class: 'nowrap', cell: ({ seen_at }) => <Timestamp at={seen_at} /> },
];

/** The workers that share the store: their hosts, their engines, and whether they are alive. */
export function WorkersPage() {
  const workers = useResource('workers', async (signal) => client.listWorkers({ signal }), { live: true });
  const { value, failure, reload } = workers;
  return (
    <>
      <div class="page-head">
        <h1>Workers</h1>
      </div>
      {failure === null || value === null ? null : (
        <FailureNotice title="Cannot load the workers" failure={failure} reload={reload} />
      )}
      <Loaded resource={workers} title="Cannot load the workers" space="list">
        {({ items }) => (
          <>
            {items.some(({ state }) => state === 'alive') ? null : (
              <Notice tone="bad" title="No worker is running">
                Queued runs and orders cannot start. Start a worker with <code>sluice worker</code>, or{' '}
                <code>sluice serve</code> without <code>--no-worker</code>.
              </Notice>
            )}
            {items.length === 0 ? null : <RowTable columns={COLUMNS} items={items} getKey={({ id }) => id} />}
          </>
        )}
      </Loaded>
      <BudgetPanel />
    </>
  );
}

function Load({ busy, capacity }: Readonly<{ busy: number; capacity: number }>) {
  return (
    <span class="load">
      <Meter fraction={capacity === 0 ? 0 : busy / capacity} />
      <span class="nowrap">
        {busy} of {capacity}
      </span>
    </span>
  );
}

/** Budgets, their usage, and the runs waiting for a budget. Empty if no budgets are configured. */
export function BudgetPanel() {
  const { value } = useResource('budgets', async (signal) => client.listBudgets({ signal }), { live: true });
  if (value === null || value.items.length === 0) return null;
  return (
    <section class="budgets" aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <p class="help">{describeBudgetDay(new Date())}</p>
      <div class="budget-cards">
        {value.items.map(({ scope, name, tokens, cost }) => (
          <div key={`${scope} ${name}`} class="card">
            <h3>
              {TITLES[scope]} {name === '' ? null : <SafeText text={name} limit={80} />}
            </h3>
            <Amount label="Tokens" amount={tokens} format={formatShort} />
            <Amount label="Cost" amount={cost} format={formatMoney} />
          </div>
        ))}
      </div>
      {value.waiting.length === 0 ? null : (
        <>
          <h3>Waiting for a budget</h3>
          <ul class="notes">
            {value.waiting.map(({ run, budget }) => (
              <li key={run}>
                <a href={toPath({ page: 'run', id: run })}>{run}</a>{' '}
                <SafeText text={capitalize(describeBudget(budget))} limit={80} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Says when a day's budget begins: at midnight UTC, wherever the browser is. */
function describeBudgetDay(now: Date): string {
  const zone = formatTimeZone(now);
  const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const local =
    zone === 'UTC' ? '' : `, which is ${formatMoment(begin.toISOString(), begin).slice(0, 5)} here (${zone})`;
  return `The budgets of a day begin at 00:00 UTC${local}.`;
}

const TITLES: Readonly<Record<Budget['scope'], string>> = { day: 'Today', issue: 'Issue', caller: 'Token' };

function Amount(props: Readonly<{ label: string; amount: Budget['tokens']; format: (value: number) => string }>) {
  const { label, amount, format } = props;
  if (amount === null) return null;
  const { used, held, limit } = amount;
  return (
    <div class="budget-amount">
      <span class="dim">{label}</span>
      <span class="end">
        <strong>{format(used)}</strong> of {format(limit)}
      </span>
      <Meter fraction={limit === 0 ? 1 : used / limit} isWarning={used >= limit * NEARLY_USED} />
      {held > used ? <span class="dim budget-held">{format(held)} including reservations for active runs</span> : null}
    </div>
  );
}

/** The fraction above which a budget is shown as nearly used up. */
const NEARLY_USED = 0.8;

/** A bar that shows the used fraction. It is hidden from screen readers, because the numbers are next to it. */
export function Meter({ fraction, isWarning = false }: Readonly<{ fraction: number; isWarning?: boolean }>) {
  return (
    <span class={isWarning ? 'meter warn' : 'meter'} aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, fraction)) * 100}%` }} />
    </span>
  );
}
