/** Tracks what runs have used, and what they hold of budgets. Times are milliseconds since 1970. */
export interface Budgets {
  /** Records who asked for a run, before it starts. */
  noteRequest(request: BudgetRequest): Promise<void>;
  /** Returns the caller and the issue of a run; undefined if nothing was recorded. */
  findRequest(run: string): Promise<{ readonly caller: string | null; readonly issueRef: string | null } | undefined>;
  /**
   * Takes a share of every budget for a run that is about to start, in one transaction: of several runs that ask at once,
   * no more start than the budgets allow. Otherwise says which budget is used up, and records that the run waits for it.
   */
  reserveBudget(reservation: BudgetReservation): Promise<BudgetLimit | undefined>;
  /** Records what a run has used so far, and returns a budget that is exceeded with it. */
  spendBudget(spending: BudgetSpending): Promise<BudgetLimit | undefined>;
  /** Returns what was used of budgets and what running work holds, in the order requested. */
  measureBudgets(limits: readonly BudgetLimit[]): Promise<readonly BudgetUse[]>;
  /** The issues that used the most tokens, and runs that wait for a budget; a few of each. */
  listBudgetUse(limit: number): Promise<{
    readonly issues: readonly string[];
    readonly waiting: readonly { readonly run: string; readonly budget: string }[];
  }>;
  /** Counts the queued runs that wait for a budget; with a name, those that wait for that budget, at most 5,000. */
  countBudgetWaits(budget?: string): Promise<number>;
}

/** A budget: what all its runs together may use. */
export interface BudgetLimit {
  /** `day` counts all runs, `issue` those of an issue, `caller` those that a token asked for. */
  readonly scope: 'day' | 'issue' | 'caller';
  /** The issue or the caller; empty for `day`. */
  readonly name: string;
  /** Runs that started before are not counted. */
  readonly since: number;
  /** Null: not limited. */
  readonly tokens: number | null;
  readonly cost: number | null;
}

/** The caller of a run. */
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

/** The used amount, and the used and held amount together. */
export interface BudgetUse {
  readonly tokens: number;
  readonly cost: number;
  readonly heldTokens: number;
  readonly heldCost: number;
}

/** The share of a budget that a run holds until it has used more: a twentieth, so that a few can start at once. */
const SHARES = 20;

/** Waiting runs of one budget are counted only so far: each of them asks. */
export const MAX_COUNTED_WAITS = 5000;

/** Rows older than this no longer count for any budget. */
export const BUDGET_ROWS_MS = 366 * 86_400_000;

/** A name for a budget that people read. */
export function describeBudget({ scope, name }: Pick<BudgetLimit, 'scope' | 'name'>): string {
  return scope === 'day' ? 'day' : `${scope} ${name}`;
}

/** Computes what a run may hold, given what all others have used or hold; or the budget that is used up. The last run gets the rest. */
export function shareBudgets(
  limits: readonly BudgetLimit[],
  others: readonly BudgetUse[],
): { readonly tokens: number; readonly cost: number } | { readonly exhausted: BudgetLimit } {
  let tokens = Number.POSITIVE_INFINITY;
  let cost = Number.POSITIVE_INFINITY;
  for (const [index, limit] of limits.entries()) {
    const { heldTokens = 0, heldCost = 0 } = others[index] ?? {};
    if (limit.tokens !== null) {
      const left = limit.tokens - heldTokens;
      if (left <= 0) return { exhausted: limit };
      tokens = Math.min(tokens, left, Math.ceil(limit.tokens / SHARES));
    }
    if (limit.cost !== null) {
      const left = limit.cost - heldCost;
      if (left <= 0) return { exhausted: limit };
      cost = Math.min(cost, left, limit.cost / SHARES);
    }
  }
  return { tokens: Number.isFinite(tokens) ? tokens : 0, cost: Number.isFinite(cost) ? cost : 0 };
}

/** The first budget that a run exceeds, given what all others have used or hold. */
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
