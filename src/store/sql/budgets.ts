import { BUDGET_ROW_TTL_MS, describeBudget, findExceeded, MAX_COUNTED_WAITS, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import type { Database, Session } from '../driver.js';
import { readNumber, readText, readTextOrNull } from '../rows.js';

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
        const share = shareBudgets(limits, await measureAll(session, limits, run));
        const exhausted = 'exhausted' in share ? share.exhausted : undefined;
        const { tokens, cost } = 'exhausted' in share ? { tokens: 0, cost: 0 } : share;
        const waitsFor = exhausted === undefined ? null : describeBudget(exhausted);
        await session.run(RESERVE, [run, issueRef, now, tokens, cost, waitsFor]);
        return exhausted;
      }),
    async spendBudget(spending) {
      await database.run(SPEND, [spending.tokens, spending.cost, spending.run]);
      return findExceeded(spending, await measureAll(database, spending.limits, spending.run));
    },
    measureBudgets: async (limits) => measureAll(database, limits, ''),
    async listBudgetUse(limit) {
      const issues = await database.all(LIST_ISSUES, [limit]);
      const waiting = await database.all(LIST_WAITING, [limit]);
      return {
        issues: issues.map((row) => readText(row, 'name')),
        waiting: waiting.map((row) => ({ run: readText(row, 'run'), budget: readText(row, 'waits_for') })),
      };
    },
    async countBudgetWaits(budget) {
      const row =
        budget === undefined
          ? await database.get(COUNT_WAITS)
          : await database.get(BUDGET_STATEMENTS.COUNT_WAITS_FOR, [budget]);
      return readNumber(row ?? {}, 'count');
    },
  };
}

const DAY_MS = 86_400_000;

async function measureAll(session: Session, limits: readonly BudgetLimit[], except: string): Promise<BudgetUse[]> {
  const uses: BudgetUse[] = [];
  for (const { scope, name, since } of limits) {
    const values = [scope, name, since, except, Math.floor(since / DAY_MS)];
    const row = (await session.get(BUDGET_STATEMENTS.MEASURE, values)) ?? {};
    uses.push({
      tokens: Number(row['tokens']),
      cost: Number(row['cost']),
      heldTokens: Number(row['held_tokens']),
      heldCost: Number(row['held_cost']),
    });
  }
  return uses;
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

const LIST_ISSUES = `
  SELECT name FROM budget_totals WHERE scope = 'issue' GROUP BY name ORDER BY sum(tokens) DESC, name LIMIT $1`;

const FROM_WAITING = `
  FROM budget_entries JOIN runs ON runs.id = run WHERE waits_for IS NOT NULL AND runs.state = 'queued'`;
const LIST_WAITING = `SELECT run, waits_for ${FROM_WAITING} ORDER BY at LIMIT $1`;
const COUNT_WAITS = `SELECT count(*) AS count ${FROM_WAITING}`;

const IS_COUNTED = `
  at >= $3::bigint AND CASE $1::text WHEN 'day' THEN true WHEN 'issue' THEN issue_ref = $2::text ELSE caller = $2::text END`;

/** Exported for the query plan tests. */
export const BUDGET_STATEMENTS = {
  /**
   * Returns the usage of all runs except one, and that usage plus the unused shares of open runs. Usage comes from
   * daily totals; only open runs are read one by one. A run's share counts until it has ended, however it ended.
   */
  MEASURE: `
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
      WHERE runs.state IN ('running', 'waiting') AND run <> $4 AND ${IS_COUNTED}) AS held`,
  /** Stops counting early, because every run that has to wait counts the others. */
  COUNT_WAITS_FOR: `
    SELECT count(*) AS count FROM (
      SELECT 1 FROM budget_entries INDEXED BY budget_entries_waiting CROSS JOIN runs ON runs.id = run
      WHERE waits_for = $1 AND runs.state = 'queued' LIMIT ${MAX_COUNTED_WAITS}) AS counted`,
} as const;
