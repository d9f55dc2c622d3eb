import type { Budget } from '../../../src/store/records/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge, labelState } from '../../ui/badge.js';
import { formatMoment, formatMoney, formatShort, formatTimeZone } from '../../ui/format.js';
import { Loaded } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { describeBudget } from '../../ui/waiting-for.js';
import './workers.css';
import { Meter, nameBudget } from '../now/now-parts.js';
import { t } from './texts.js';

/** The budgets, their usage, and the runs waiting for a budget. */
export function BudgetsPage() {
  const budgets = useResource('budgets', async (signal) => client.listBudgets({ signal }), { live: true });
  return (
    <>
      <div class="page-head">
        <h1>{t.budgets}</h1>
      </div>
      <Loaded resource={budgets} title={t.cannotLoadTheBudgets} space="list">
        {(value) =>
          value.items.length === 0 ? (
            <div class="card empty">
              <strong>{t.noBudgets}</strong>
              <p>
                {t.limitsOnTokensAndCost}
                <code>budgets</code>.
              </p>
            </div>
          ) : (
            <Budgets value={value} />
          )
        }
      </Loaded>
    </>
  );
}

function Budgets({ value }: { readonly value: Awaited<ReturnType<typeof client.listBudgets>> }) {
  return (
    <section class="budgets stack" aria-label={t.budgets}>
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
      <Meter fraction={limit === 0 ? 1 : used / limit} isWarning={used >= limit * NEARLY_USED} />
      {held > used ? <span class="dim budget-held">{t.reserved(format(held))}</span> : null}
    </div>
  );
}

/** The fraction above which a budget is shown as nearly used up. */
const NEARLY_USED = 0.8;
