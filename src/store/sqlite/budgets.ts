import { BUDGET_ROW_TTL_MS, MAX_COUNTED_WAITS, describeBudget, findExceeded, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import type { Database } from './database.js';
import { readInteger, readText } from './rows.js';

/** Creates the store's budget methods. */
export function createBudgets(database: Database): Budgets {
  const note = database.prepare(`
    INSERT INTO budget_entries (run, caller, issue_ref, at) VALUES (?, ?, ?, ?) ON CONFLICT (run) DO NOTHING`);
  const find = database.prepare('SELECT caller, issue_ref FROM budget_entries WHERE run = ?');
  const reserve = database.prepare(`
    INSERT INTO budget_entries (run, issue_ref, at, held_tokens, held_cost, waits_for) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (run) DO UPDATE SET at = excluded.at, held_tokens = excluded.held_tokens, held_cost = excluded.held_cost,
      waits_for = excluded.waits_for`);
  const spend = database.prepare(`
    UPDATE budget_entries SET tokens = max(tokens, ?), cost = max(cost, ?) WHERE run = ?`);
  const deleteOld = database.prepare('DELETE FROM budget_entries WHERE at < ?');
  const deleteOldTotals = database.prepare('DELETE FROM budget_totals WHERE day < CAST(? / 86400000 AS INTEGER)');
  const measure = database.prepare(BUDGET_STATEMENTS.MEASURE);
  const listIssues = database.prepare(`
    SELECT name FROM budget_totals WHERE scope = 'issue' GROUP BY name ORDER BY sum(tokens) DESC, name LIMIT ?`);
  const listWaiting = database.prepare(`
    SELECT run, waits_for FROM budget_entries JOIN runs ON runs.id = run
    WHERE waits_for IS NOT NULL AND runs.state = 'queued' ORDER BY at LIMIT ?`);
  const countWaits = database.prepare(`
    SELECT count(*) AS count FROM budget_entries JOIN runs ON runs.id = run
    WHERE waits_for IS NOT NULL AND runs.state = 'queued'`);

  const countWaitsFor = database.prepare(BUDGET_STATEMENTS.COUNT_WAITS_FOR);

  function measureAll(limits: readonly BudgetLimit[], except: string): BudgetUse[] {
    return limits.map(({ scope, name, since }) => {
      const row = measure.get(scope, name, since, except) ?? {};
      return {
        tokens: Number(row['tokens']),
        cost: Number(row['cost']),
        heldTokens: Number(row['held_tokens']),
        heldCost: Number(row['held_cost']),
      };
    });
  }

  return {
    async recordRequest({ run, caller, issueRef, now }) {
      await database.write(() => {
        deleteOld.run(now - BUDGET_ROW_TTL_MS);
        note.run(run, caller, issueRef, now);
      });
    },
    findRequest: async (run) =>
      database.read(() => {
        const row = find.get(run);
        if (row === undefined) return undefined;
        return { caller: readName(row['caller']), issueRef: readName(row['issue_ref']) };
      }),
    reserveBudget: async ({ run, issueRef, now, limits }) =>
      database.write(() => {
        deleteOld.run(now - BUDGET_ROW_TTL_MS);
        deleteOldTotals.run(now - BUDGET_ROW_TTL_MS);
        const share = shareBudgets(limits, measureAll(limits, run));
        if ('exhausted' in share) {
          reserve.run(run, issueRef, now, 0, 0, describeBudget(share.exhausted));
          return share.exhausted;
        }
        reserve.run(run, issueRef, now, share.tokens, share.cost, null);
        return undefined;
      }),
    spendBudget: async (spending) =>
      database.write(() => {
        spend.run(spending.tokens, spending.cost, spending.run);
        return findExceeded(spending, measureAll(spending.limits, spending.run));
      }),
    measureBudgets: async (limits) => database.read(() => measureAll(limits, '')),
    listBudgetUse: async (limit) =>
      database.read(() => ({
        issues: listIssues.all(limit).map((row) => readText(row, 'name')),
        waiting: listWaiting
          .all(limit)
          .map((row) => ({ run: readText(row, 'run'), budget: readText(row, 'waits_for') })),
      })),
    countBudgetWaits: async (budget) =>
      database.read(() =>
        readInteger((budget === undefined ? countWaits.get() : countWaitsFor.get(budget)) ?? {}, 'count'),
      ),
  };
}

const IS_COUNTED = `at >= ?3 AND CASE ?1 WHEN 'day' THEN 1 WHEN 'issue' THEN issue_ref = ?2 ELSE caller = ?2 END`;

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
      FROM budget_totals WHERE scope = ?1 AND name = ?2 AND day >= CAST(?3 / 86400000 AS INTEGER)) AS used, (
      SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
      FROM budget_entries WHERE run = ?4 AND ${IS_COUNTED}) AS own, (
      SELECT coalesce(sum(max(held_tokens - tokens, 0)), 0) AS tokens, coalesce(sum(max(held_cost - cost, 0)), 0) AS cost
      FROM runs INDEXED BY runs_busy CROSS JOIN budget_entries ON run = runs.id
      WHERE runs.state IN ('running', 'waiting') AND run <> ?4 AND ${IS_COUNTED}) AS held`,
  COUNT_WAITS_FOR: `
    SELECT count(*) AS count FROM (
      SELECT 1 FROM budget_entries INDEXED BY budget_entries_waiting CROSS JOIN runs ON runs.id = run
      WHERE waits_for = ? AND runs.state = 'queued' LIMIT ${MAX_COUNTED_WAITS})`,
} as const;

function readName(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
