import { reportBudgets } from '../../dispatch/index.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';

/** Creates the handlers that report budget usage. */
export function createBudgetHandlers({ store, settings, clock }: ServerContext): Pick<Handlers, 'listBudgets'> {
  return { listBudgets: async () => reportBudgets(store, settings.budgets, clock()) };
}
