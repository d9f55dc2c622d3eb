/** What tokens and dollars may be used. */
export interface BudgetAmount {
  readonly tokens?: number;
  /** US dollars, as engines report them. */
  readonly cost?: number;
}

/** The budgets of the configuration. A day is one of UTC. */
export interface BudgetSettings {
  /** All runs of a day together. */
  readonly day?: BudgetAmount;
  /** Every issue, over all its runs of the last year. */
  readonly issue?: BudgetAmount;
  /** What a token asked for, by its name, per day; `*` is every token that is not named. */
  readonly callers?: Readonly<Record<string, BudgetAmount>>;
}
