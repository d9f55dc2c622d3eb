import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

const amount = { type: 'number', minimum: 0 } as const;

/** A budget and how much of it is used. */
export const budgetSchema = object({
  /** `day`: all of today's runs. `issue`: all runs for an issue. `caller`: today's runs requested with a token. */
  scope: oneOf(['day', 'issue', 'caller']),
  /** The issue reference or the token name; empty for `day`. */
  name: text,
  /** Null for no limit. `held`: the used amount plus the amount reserved for active runs. */
  tokens: orNull(object({ limit: amount, used: amount, held: amount })),
  cost: orNull(object({ limit: amount, used: amount, held: amount })),
});

/** All budgets, and the runs waiting for them. */
export const budgetsSchema = object({
  items: arrayOf(budgetSchema),
  /** `opens_at`: when the budget is reset. The run starts earlier if active runs release enough of it. */
  waiting: arrayOf(object({ run: name, budget: name, opens_at: timestamp })),
});

/** See {@link budgetSchema}. */
export type Budget = FromSchema<typeof budgetSchema>;

/** See {@link budgetsSchema}. */
export type BudgetReport = FromSchema<typeof budgetsSchema>;
