/** A limit on tokens, dollars or both. */
export interface BudgetAmount {
  readonly tokens?: number;
  /** US dollars, as engines report them. */
  readonly cost?: number;
}

/** The configured budgets. A day starts at midnight UTC. */
export interface BudgetSettings {
  /** The total for all runs in a day. */
  readonly day?: BudgetAmount;
  /** The limit for each issue, over all its runs in the last year. */
  readonly issue?: BudgetAmount;
  /** Daily limits for runs requested with a token, keyed by token name; `*` applies to every token not listed. */
  readonly callers?: Readonly<Record<string, BudgetAmount>>;
}
