import type { Budget } from '../../../src/records/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { formatMoney, formatShort } from '../../ui/amount.js';
import { capitalize } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { describeBudget } from '../../ui/waiting-for.js';
import { Meter } from './meter.js';

/** Budgets, their usage, and the runs waiting for a budget. Empty if no budgets are configured. */
export function BudgetPanel() {
  const { value } = useResource('budgets', async (signal) => client.listBudgets({ signal }), { live: true });
  if (value === null || value.items.length === 0) return null;
  return (
    <section class="budgets" aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
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

const TITLES: Readonly<Record<Budget['scope'], string>> = { day: 'Today', issue: 'Issue', caller: 'Token' };

function Amount({
  label,
  amount,
  format,
}: {
  readonly label: string;
  readonly amount: Budget['tokens'];
  readonly format: (value: number) => string;
}) {
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
