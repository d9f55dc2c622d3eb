import type { Database, Session } from '../driver.js';
import { readNumber, readText, readTextOrNull } from '../rows.js';

/** Tracks the usage of runs and their budget shares. Times are milliseconds since 1970. */
export interface Budgets {
  /** Records who requested a run, before it starts. */
  recordRequest(request: {
    readonly run: string;
    readonly caller: string | null;
    readonly issueRef: string | null;
    readonly now: number;
  }): Promise<void>;
  /** Returns a run's caller and issue; undefined if nothing was recorded. */
  findRequest(run: string): Promise<{ readonly caller: string | null; readonly issueRef: string | null } | undefined>;
  /**
   * Reserves a share of every budget for a run that is about to start, in one transaction, so concurrent requests
   * cannot exceed the budgets. If a budget is used up, reserves nothing, records that the run is waiting for that
   * budget, and returns it.
   */
  reserveBudget(reservation: {
    readonly run: string;
    readonly issueRef: string | null;
    readonly now: number;
    readonly limits: readonly BudgetLimit[];
  }): Promise<BudgetLimit | undefined>;
  /** Records a run's usage so far, and returns a budget that it exceeds. */
  spendBudget(spending: {
    readonly run: string;
    readonly tokens: number;
    readonly cost: number;
    readonly limits: readonly BudgetLimit[];
  }): Promise<BudgetLimit | undefined>;
  /** Returns the used and reserved amounts of budgets, in the order of `limits`. */
  measureBudgets(limits: readonly BudgetLimit[]): Promise<readonly BudgetUse[]>;
  /** Lists the issues and callers that used the most tokens, and the runs waiting for a budget. */
  listBudgetUse(
    limit: number,
    since: number,
  ): Promise<{
    readonly issues: readonly string[];
    readonly callers: readonly string[];
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
  /** The start of a day (UTC), in milliseconds since 1970; earlier runs are not counted. */
  readonly since: number;
  /** Null for no limit. */
  readonly tokens: number | null;
  readonly cost: number | null;
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
const MAX_COUNTED_WAITS = 5000;

/** Rows older than this no longer count against any budget. */
const BUDGET_ROW_TTL_MS = 366 * 86_400_000;

/** Formats a budget's name: `day`, `issue local#1`, `caller ci`. */
export function describeBudget({ scope, name }: Pick<BudgetLimit, 'scope' | 'name'>): string {
  return scope === 'day' ? 'day' : `${scope} ${name}`;
}

/** A budget with its use by all other runs. */
type MeasuredBudget = BudgetUse & { readonly limit: BudgetLimit };

/** Computes a run's share, or finds the budget that is used up. If less than a share remains, the run gets the rest. */
function shareBudgets(budgets: readonly MeasuredBudget[]) {
  let [tokens, cost] = [Infinity, Infinity];
  for (const { limit, heldTokens, heldCost } of budgets) {
    const { tokens: mostTokens, cost: mostCost } = readLimit(limit);
    if (heldTokens >= mostTokens || heldCost >= mostCost) return { exhausted: limit, tokens: 0, cost: 0 };
    tokens = Math.min(tokens, mostTokens - heldTokens, Math.ceil(mostTokens / SHARES_PER_BUDGET));
    cost = Math.min(cost, mostCost - heldCost, mostCost / SHARES_PER_BUDGET);
  }
  return { tokens: Number.isFinite(tokens) ? tokens : 0, cost: Number.isFinite(cost) ? cost : 0 };
}

const readLimit = ({ tokens, cost }: BudgetLimit) => ({ tokens: tokens ?? Infinity, cost: cost ?? Infinity });

/** Creates the store's budget methods. */
export function createBudgets(database: Database): Budgets {
  return {
    async recordRequest({ run, caller, issueRef, now }) {
      await database.run(DELETE_OLD, [now - BUDGET_ROW_TTL_MS, run]);
      await database.run(RECORD, [run, caller, issueRef, now]);
    },
    async findRequest(run) {
      const row = await database.get('SELECT caller, issue_ref FROM budget_entries WHERE run = $1', [run]);
      if (row === undefined) return undefined;
      return { caller: readTextOrNull(row, 'caller'), issueRef: readTextOrNull(row, 'issue_ref') };
    },
    // Reservations are serialized across all hosts, so each sees the other shares.
    reserveBudget: async ({ run, issueRef, now, limits }) =>
      database.exclusive('budgets', async (session) => {
        await session.run(DELETE_OLD, [now - BUDGET_ROW_TTL_MS, run]);
        await session.run(DELETE_OLD_TOTALS, [Math.floor((now - BUDGET_ROW_TTL_MS) / DAY_MS)]);
        const { exhausted, tokens, cost } = shareBudgets(await measureAll(session, limits, run));
        const waitsFor = exhausted === undefined ? null : describeBudget(exhausted);
        await session.run(RESERVE, [run, issueRef, now, tokens, cost, waitsFor]);
        return exhausted;
      }),
    async spendBudget({ run, tokens, cost, limits }) {
      await database.run(SPEND, [tokens, cost, run]);
      const exceeded = (await measureAll(database, limits, run)).find(({ limit, heldTokens, heldCost }) => {
        const most = readLimit(limit);
        return heldTokens + tokens > most.tokens || heldCost + cost > most.cost;
      });
      return exceeded?.limit;
    },
    measureBudgets: async (limits) => (await measureAll(database, limits, '')).map(({ limit: _, ...use }) => use),
    async listBudgetUse(limit, since) {
      const issues = await database.all(LIST_MOST_USED, ['issue', 0, limit]);
      const callers = await database.all(LIST_MOST_USED, ['caller', Math.floor(since / DAY_MS), limit]);
      const waiting = await database.all(LIST_WAITING, [limit]);
      return {
        issues: issues.map((row) => readText(row, 'name')),
        callers: callers.map((row) => readText(row, 'name')),
        waiting: waiting.map((row) => ({ run: readText(row, 'run'), budget: readText(row, 'waits_for') })),
      };
    },
    async countBudgetWaits(budget) {
      const row =
        budget === undefined ? await database.get(COUNT_WAITS) : await database.get(COUNT_WAITS_FOR, [budget]);
      return readNumber(row ?? {}, 'count');
    },
  };
}

const DAY_MS = 86_400_000;

async function measureAll(session: Session, limits: readonly BudgetLimit[], except: string): Promise<MeasuredBudget[]> {
  const budgets: MeasuredBudget[] = [];
  for (const limit of limits) {
    const { scope, name, since } = limit;
    const values = [scope, name, since, except, Math.floor(since / DAY_MS)];
    const row = (await session.get(MEASURE, values)) ?? {};
    budgets.push({
      limit,
      tokens: Number(row['tokens']),
      cost: Number(row['cost']),
      heldTokens: Number(row['held_tokens']),
      heldCost: Number(row['held_cost']),
    });
  }
  return budgets;
}

/** Entries that no longer count against any budget; those that another process is deleting are skipped. */
const DELETE_OLD = `
  DELETE FROM budget_entries WHERE run = ANY (ARRAY(
    SELECT run FROM budget_entries WHERE at < $1 AND run <> $2 LIMIT 1000 FOR UPDATE SKIP LOCKED))`;
const DELETE_OLD_TOTALS = 'DELETE FROM budget_totals WHERE day < $1';

const RECORD = `
  INSERT INTO budget_entries (run, caller, issue_ref, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run) DO NOTHING`;

const RESERVE = `
  INSERT INTO budget_entries (run, issue_ref, at, held_tokens, held_cost, waits_for) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (run) DO UPDATE SET at = excluded.at, held_tokens = excluded.held_tokens, held_cost = excluded.held_cost,
    waits_for = excluded.waits_for`;

const SPEND = 'UPDATE budget_entries SET tokens = greatest(tokens, $1), cost = greatest(cost, $2) WHERE run = $3';

const LIST_MOST_USED = `
  SELECT name FROM budget_totals WHERE scope = $1 AND day >= $2
  GROUP BY name ORDER BY sum(tokens) DESC, name LIMIT $3`;

const FROM_WAITING = `
  FROM budget_entries JOIN runs ON runs.id = run WHERE waits_for IS NOT NULL AND runs.state = 'queued'`;
const LIST_WAITING = `SELECT run, waits_for ${FROM_WAITING} ORDER BY at LIMIT $1`;
const COUNT_WAITS = `SELECT count(*) AS count ${FROM_WAITING}`;

const IS_COUNTED = `
  at >= $3::bigint AND CASE $1::text WHEN 'day' THEN true WHEN 'issue' THEN issue_ref = $2::text ELSE budget_entries.caller = $2::text END`;

/**
 * Returns the usage of all runs except one, and that usage plus the unused shares of open runs. Usage comes from
 * daily totals; only open runs are read one by one. A run's share counts until it has ended, however it ended.
 */
export const MEASURE = `
  SELECT used.tokens - own.tokens AS tokens, used.cost - own.cost AS cost,
    used.tokens - own.tokens + held.tokens AS held_tokens, used.cost - own.cost + held.cost AS held_cost
  FROM (
    SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
    FROM budget_totals WHERE scope = $1::text AND name = $2::text AND day >= $5) AS used, (
    SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
    FROM budget_entries WHERE run = $4 AND ${IS_COUNTED}) AS own, (
    SELECT coalesce(sum(greatest(held_tokens - tokens, 0)), 0) AS tokens,
      coalesce(sum(greatest(held_cost - cost, 0)), 0) AS cost
    FROM runs INDEXED BY runs_busy CROSS JOIN budget_entries ON run = runs.id
    WHERE runs.state IN ('running', 'waiting') AND run <> $4 AND ${IS_COUNTED}) AS held`;

/** Stops counting early, because every run that has to wait counts the others. */
export const COUNT_WAITS_FOR = `
  SELECT count(*) AS count FROM (
    SELECT 1 FROM budget_entries INDEXED BY budget_entries_waiting CROSS JOIN runs ON runs.id = run
    WHERE waits_for = $1 AND runs.state = 'queued' LIMIT ${MAX_COUNTED_WAITS}) AS counted`;
