/** A limit on tokens, dollars or both. */
export interface BudgetAmount {
  readonly tokens?: number;
  /** US dollars, as engines report them. */
  readonly cost?: number;
}

/** The budgets of the configuration. A day begins at midnight UTC. */
export interface BudgetSettings {
  /** All runs of a day together. */
  readonly day?: BudgetAmount;
  /** Every issue, over all its runs of the last year. */
  readonly issue?: BudgetAmount;
  /** Limits per day of runs requested with a token, by its name; `*` is every token that is not listed. */
  readonly callers?: Readonly<Record<string, BudgetAmount>>;
}
