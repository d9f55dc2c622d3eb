import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

const amount = { type: 'number', minimum: 0 } as const;

/** A budget and its usage. */
export const budgetSchema = object({
  /** `day`: all runs of today. `issue`: all runs of an issue. `caller`: runs of today that a token requested. */
  scope: oneOf(['day', 'issue', 'caller']),
  /** The issue or the name of the token; empty for `day`. */
  name: text,
  /** Null if there is no limit. `held`: used, plus what is reserved for active runs. */
  tokens: orNull(object({ limit: amount, used: amount, held: amount })),
  cost: orNull(object({ limit: amount, used: amount, held: amount })),
});

/** All budgets, and the runs that wait for one. */
export const budgetsSchema = object({
  items: arrayOf(budgetSchema),
  /** `opens_at`: when the budget is reset. A run starts sooner if active runs release enough of it. */
  waiting: arrayOf(object({ run: name, budget: name, opens_at: timestamp })),
});

/** See {@link budgetSchema}. */
export type Budget = FromSchema<typeof budgetSchema>;

/** See {@link budgetsSchema}. */
export type BudgetReport = FromSchema<typeof budgetsSchema>;
