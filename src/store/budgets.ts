/** Tracks the usage of runs and their budget shares. Times are milliseconds since 1970. */
export interface Budgets {
  /** Records who requested a run, before it starts. */
  recordRequest(request: BudgetRequest): Promise<void>;
  /** Returns a run's caller and issue; undefined if nothing was recorded. */
  findRequest(run: string): Promise<{ readonly caller: string | null; readonly issueRef: string | null } | undefined>;
  /**
   * Reserves a share of every budget for a run that is about to start, in one transaction, so concurrent requests
   * cannot exceed the budgets. If a budget is used up, reserves nothing, records that the run is waiting for that
   * budget, and returns it.
   */
  reserveBudget(reservation: BudgetReservation): Promise<BudgetLimit | undefined>;
  /** Records a run's usage so far, and returns a budget that it exceeds. */
  spendBudget(spending: BudgetSpending): Promise<BudgetLimit | undefined>;
  /** Returns the used and reserved amounts of budgets, in the order of `limits`. */
  measureBudgets(limits: readonly BudgetLimit[]): Promise<readonly BudgetUse[]>;
  /** Lists the issues that used the most tokens, and the runs waiting for a budget; at most `limit` of each. */
  listBudgetUse(limit: number): Promise<{
    readonly issues: readonly string[];
    readonly waiting: readonly { readonly run: string; readonly budget: string }[];
  }>;
  /** Counts the queued runs waiting for any budget, or for the named budget, up to 5,000. */
  countBudgetWaits(budget?: string): Promise<number>;
}

/** A budget: the total usage allowed for its runs. */
export interface BudgetLimit {
  /** `day` counts all runs, `issue` an issue's runs, `caller` the runs requested with a token. */
  readonly scope: 'day' | 'issue' | 'caller';
  /** The issue or the caller; empty for `day`. */
  readonly name: string;
  /**
   * The start of a day (UTC) in milliseconds since 1970; runs that started earlier are not counted. 0 counts all runs.
   */
  readonly since: number;
  /** Null for no limit. */
  readonly tokens: number | null;
  readonly cost: number | null;
}

/** Who requested a run, and for which issue. */
export interface BudgetRequest {
  readonly run: string;
  readonly caller: string | null;
  readonly issueRef: string | null;
  readonly now: number;
}

/** A run that is about to start. */
export interface BudgetReservation {
  readonly run: string;
  readonly issueRef: string | null;
  readonly now: number;
  readonly limits: readonly BudgetLimit[];
}

/** The usage of a run so far. */
export interface BudgetSpending {
  readonly run: string;
  readonly tokens: number;
  readonly cost: number;
  readonly limits: readonly BudgetLimit[];
}

/** The used amounts (`tokens`, `cost`), and the used and reserved amounts together (`heldTokens`, `heldCost`). */
export interface BudgetUse {
  readonly tokens: number;
  readonly cost: number;
  readonly heldTokens: number;
  readonly heldCost: number;
}

/** A run reserves a twentieth of a budget until it has used more, so multiple runs can start concurrently. */
const SHARES_PER_BUDGET = 20;

/** A budget's waiting runs are counted only up to this number, because every run that has to wait counts the others. */
export const MAX_COUNTED_WAITS = 5000;

/** Rows older than this no longer count against any budget. */
export const BUDGET_ROW_TTL_MS = 366 * 86_400_000;

/** Formats a budget's name: `day`, `issue local#1`, `caller ci`. */
export function describeBudget({ scope, name }: Pick<BudgetLimit, 'scope' | 'name'>): string {
  return scope === 'day' ? 'day' : `${scope} ${name}`;
}

/**
 * Computes a run's share from the used and reserved amounts of all other runs, or returns the budget that is used up.
 * If less than a share remains, the run gets the rest.
 */
export function shareBudgets(
  limits: readonly BudgetLimit[],
  others: readonly BudgetUse[],
): { readonly tokens: number; readonly cost: number } | { readonly exhausted: BudgetLimit } {
  let tokens = Number.POSITIVE_INFINITY;
  let cost = Number.POSITIVE_INFINITY;
  for (const [index, limit] of limits.entries()) {
    const { heldTokens = 0, heldCost = 0 } = others[index] ?? {};
    if (limit.tokens !== null) {
      const remaining = limit.tokens - heldTokens;
      if (remaining <= 0) return { exhausted: limit };
      tokens = Math.min(tokens, remaining, Math.ceil(limit.tokens / SHARES_PER_BUDGET));
    }
    if (limit.cost !== null) {
      const remaining = limit.cost - heldCost;
      if (remaining <= 0) return { exhausted: limit };
      cost = Math.min(cost, remaining, limit.cost / SHARES_PER_BUDGET);
    }
  }
  return { tokens: Number.isFinite(tokens) ? tokens : 0, cost: Number.isFinite(cost) ? cost : 0 };
}

/** Finds the first budget that a run exceeds, given the used and reserved amounts of all other runs. */
export function findExceeded(
  { tokens, cost, limits }: BudgetSpending,
  others: readonly BudgetUse[],
): BudgetLimit | undefined {
  return limits.find((limit, index) => {
    const { heldTokens = 0, heldCost = 0 } = others[index] ?? {};
    if (limit.tokens !== null && heldTokens + tokens > limit.tokens) return true;
    return limit.cost !== null && heldCost + cost > limit.cost;
  });
}
