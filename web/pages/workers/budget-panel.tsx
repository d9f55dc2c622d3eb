import type { Budget } from '../../../src/records/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { SafeText } from '../../ui/safe-text.js';

/** What was used of the budgets, and runs that wait for one; nothing where there are none. */
export function BudgetPanel() {
  const { value } = useResource('budgets', async (signal) => client.listBudgets({ signal }), { live: true });
  if (value === null || value.items.length === 0) return null;
  return (
    <section class="card stack" aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <table>
        <thead>
          <tr>
            <th>Budget</th>
            <th>Tokens</th>
            <th>Cost</th>
          </tr>
        </thead>
        <tbody>
          {value.items.map(({ scope, name, tokens, cost }) => (
            <tr key={`${scope} ${name}`}>
              <td>
                {scope === 'caller' ? 'token' : scope} <SafeText text={name} limit={80} />
              </td>
              <td>{describeAmount(tokens, '')}</td>
              <td>{describeAmount(cost, '$')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {value.waiting.map(({ run, budget }) => (
        <p key={run}>
          <a href={toPath({ page: 'run', id: run })}>{run}</a> waits for the budget of the{' '}
          <SafeText text={budget} limit={80} />
        </p>
      ))}
    </section>
  );
}

function describeAmount(amount: Budget['tokens'], sign: string): string {
  if (amount === null) return 'not limited';
  const format = (value: number): string => `${sign}${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}`;
  return `${format(amount.used)} of ${format(amount.limit)}`;
}
