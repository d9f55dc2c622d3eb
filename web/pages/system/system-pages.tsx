import type { WorkerRecord, Budget, ApprovalRule } from '../../../src/store/records/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge, labelState, describeBudget, Notice, type Tone, ReadOnly, Sentence } from '../../ui/parts.js';
import { ResourcePage } from '../../ui/list-page.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { SafeText, Timestamp, formatMoment, formatMoney, formatShort, formatTimeZone } from '../../ui/text.js';
import { Fate, nameWorker, Meter, nameBudget } from '../now/now-parts.js';
import { t } from './texts.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import './system.css';

const TONES: Readonly<Record<WorkerRecord['state'], Tone>> = { alive: 'good', stopping: 'plain', gone: 'bad' };

const COLUMNS: readonly Column<WorkerRecord>[] = [
  {
    name: t.state,
    width: '7.5rem',
    cell: ({ state }) => <Badge tone={TONES[state]}>{labelState(state)}</Badge>,
  },
  {
    name: t.worker,
    class: 'wide',
    cell: (worker) => (
      <>
        <SafeText text={nameWorker(worker)} limit={100} />
        {worker.state === 'gone' ? (
          <span class="below">
            <Fate worker={worker} />
          </span>
        ) : null}
      </>
    ),
  },
  {
    name: t.load,
    width: '11rem',
    // The last report of a dead worker would be untrue.
    cell: ({ busy, capacity, state }) =>
      state === 'gone' ? (
        <span class="dim">–</span>
      ) : (
        <span class="load">
          <Meter fraction={capacity === 0 ? 0 : busy / capacity} />
          <span class="nowrap">{t.busy(busy, capacity)}</span>
        </span>
      ),
  },
  { name: t.version, width: '7rem', class: 'nowrap', cell: ({ version }) => <SafeText text={version} /> },
  { name: t.engines, width: '26%', cell: ({ engines }) => <SafeText text={engines.join(', ')} limit={300} /> },
  { name: t.lastSeen, width: '9.5rem', class: 'nowrap', cell: ({ seen_at }) => <Timestamp at={seen_at} /> },
];

/** The workers that share the store: their hosts, their engines, and whether they are alive. */
export function WorkersPage() {
  const resource = useResource('workers', async (signal) => client.listWorkers({ signal }), { live: true });
  return (
    <ResourcePage title={t.pages.workers} resource={resource}>
      {({ items }) => (
        <>
          {items.some(({ state }) => state === 'alive') ? null : (
            <Notice tone="bad" title={t.noWorkerIsRunning}>
              <Sentence text={t.queuedRunsAndOrdersCannot} />
            </Notice>
          )}
          {items.length === 0 ? null : <RowTable columns={COLUMNS} items={items} getKey={({ id }) => id} />}
        </>
      )}
    </ResourcePage>
  );
}

export function BudgetsPage() {
  const budgets = useResource('budgets', async (signal) => client.listBudgets({ signal }), { live: true });
  return (
    <ResourcePage
      title={t.pages.budgets}
      resource={budgets}
      isEmpty={({ items }) => items.length === 0}
      emptyTitle={t.noBudgets}
      emptyText={t.limitsOnTokensAndCost}
    >
      {(value) => (
        <section class="budgets stack" aria-label={t.pages.budgets}>
          <p class="help">{describeBudgetDay(new Date())}</p>
          <div class="budget-cards">
            {value.items.map(({ scope, name, tokens, cost }) => (
              <div key={`${scope} ${name}`} class="card">
                <h2>
                  <SafeText text={nameBudget({ scope, name })} limit={100} />
                  {isExceeded(tokens) || isExceeded(cost) ? <Badge tone="bad">{t.exceeded}</Badge> : null}
                </h2>
                <Amount label={t.tokens} amount={tokens} format={formatShort} />
                <Amount label={t.cost} amount={cost} format={formatMoney} />
              </div>
            ))}
          </div>
          {value.waiting.length === 0 ? null : (
            <>
              <h2>{t.waitingForABudget}</h2>
              <ul class="notes">
                {value.waiting.map(({ run, budget }) => (
                  <li key={run}>
                    <a href={toPath({ page: 'run', id: run })}>{run}</a>{' '}
                    <SafeText text={labelState(describeBudget(budget))} limit={80} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </section>
      )}
    </ResourcePage>
  );
}

/** Says when a day's budget begins: at midnight UTC, wherever the browser is. */
function describeBudgetDay(now: Date): string {
  const zone = formatTimeZone(now);
  const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  return t.budgetDay(zone === 'UTC' ? null : formatMoment(begin.toISOString(), begin).slice(0, 5), zone);
}

const isExceeded = (amount: Budget['tokens']): boolean => amount !== null && amount.used >= amount.limit;

function Amount(props: Readonly<{ label: string; amount: Budget['tokens']; format: (value: number) => string }>) {
  const { label, amount, format } = props;
  if (amount === null) return null;
  const { used, held, limit } = amount;
  return (
    <div class="budget-amount">
      <span class="dim">{label}</span>
      <span class="end">
        <strong>{format(used)}</strong>
        {t.ofLimit(format(limit))}
      </span>
      <Meter fraction={limit === 0 ? 1 : used / limit} />
      {held > used ? <span class="dim budget-held">{t.reserved(format(held))}</span> : null}
    </div>
  );
}

type Settings = Awaited<ReturnType<typeof client.readSettings>>;

/** A read-only page about a part of the configuration. */
function SettingsPage<Item>(props: {
  readonly title: string;
  readonly purpose: string;
  readonly select: (settings: Settings) => readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly empty: string;
  readonly hint: string;
}) {
  const { title, purpose, select, columns, empty, hint } = props;
  const canRead = hasScope('decide');
  const settings = useResource(`${title} ${String(canRead)}`, async (signal) =>
    canRead ? select(await client.readSettings({ signal })) : null,
  );
  return (
    <ResourcePage
      title={title}
      resource={settings}
      isEmpty={(value) => value?.length === 0}
      emptyTitle={empty}
      emptyText={hint}
    >
      {(value) =>
        value === null ? (
          <ReadOnly scope="decide" purpose={purpose} />
        ) : (
          <div class="stack">
            <p class="help">{hint}</p>
            <RowTable columns={columns} items={value} getKey={(item) => JSON.stringify(item)} />
          </div>
        )
      }
    </ResourcePage>
  );
}

const pattern = (text: string | undefined) =>
  text === undefined ? <span class="dim">{t.any}</span> : <SafeText as="code" text={text} limit={200} />;

type NumberedRule = ApprovalRule & { readonly number: number };

const RULE_COLUMNS: readonly Column<NumberedRule>[] = [
  { name: t.no, width: '4rem', isNumber: true, cell: ({ number }) => number },
  {
    name: t.decision,
    width: '7rem',
    cell: ({ decide }) => <Badge>{t.rules[decide]}</Badge>,
  },
  { name: t.tool, width: '18%', isLabeled: true, cell: ({ tool }) => pattern(tool) },
  { name: t.command, width: '22%', isLabeled: true, cell: ({ command }) => pattern(command) },
  { name: t.path, width: '22%', isLabeled: true, cell: ({ path }) => pattern(path) },
  { name: t.reason, cell: ({ why }) => <SafeText text={why ?? ''} limit={300} /> },
];

export function RulesPage() {
  return (
    <SettingsPage
      title={t.pages.rules}
      purpose={t.readTheApprovalRules}
      select={({ approvals }) => approvals.map((rule, index) => ({ ...rule, number: index + 1 }))}
      columns={RULE_COLUMNS}
      empty={t.noApprovalRules}
      hint={t.theFirstRuleThatMatches}
    />
  );
}

const TOKEN_COLUMNS: readonly Column<Settings['tokens'][number]>[] = [
  { name: t.token, class: 'wide', cell: ({ name }) => <SafeText text={name} limit={100} /> },
  {
    name: t.scopes,
    width: '60%',
    cell: ({ scopes }) => (
      <span class="row">
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
];

export function TokensPage() {
  return (
    <SettingsPage
      title={t.pages.tokens}
      purpose={t.seeTheTokens}
      select={({ tokens }) => tokens}
      columns={TOKEN_COLUMNS}
      empty={t.noTokens}
      hint={t.decisionsAreRecordedUnderThe}
    />
  );
}
