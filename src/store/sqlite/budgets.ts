import { BUDGET_ROWS_MS, MAX_COUNTED_WAITS, describeBudget, findExceeded, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import type { Database } from './database.js';
import { readInteger, readText } from './rows.js';

/** Creates the part of the store that tracks what runs use and hold of budgets. */
export function createBudgets(database: Database): Budgets {
  const note = database.prepare(`
    INSERT INTO budget_entries (run, caller, issue_ref, at) VALUES (?, ?, ?, ?) ON CONFLICT (run) DO NOTHING`);
  const find = database.prepare('SELECT caller, issue_ref FROM budget_entries WHERE run = ?');
  const hold = database.prepare(`
    INSERT INTO budget_entries (run, issue_ref, at, held_tokens, held_cost, waits_for) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (run) DO UPDATE SET at = excluded.at, held_tokens = excluded.held_tokens, held_cost = excluded.held_cost,
      waits_for = excluded.waits_for`);
  const spend = database.prepare(`
    UPDATE budget_entries SET tokens = max(tokens, ?), cost = max(cost, ?) WHERE run = ?`);
  const forget = database.prepare('DELETE FROM budget_entries WHERE at < ?');
  const measure = {
    day: database.prepare(BUDGET_STATEMENTS.MEASURE_DAY),
    issue: database.prepare(BUDGET_STATEMENTS.MEASURE_ISSUE),
    caller: database.prepare(BUDGET_STATEMENTS.MEASURE_CALLER),
  };
  const listIssues = database.prepare(`
    SELECT issue_ref FROM budget_entries WHERE issue_ref IS NOT NULL
    GROUP BY issue_ref ORDER BY sum(tokens) DESC, issue_ref LIMIT ?`);
  const listWaiting = database.prepare(`
    SELECT run, waits_for FROM budget_entries JOIN runs ON runs.id = run
    WHERE waits_for IS NOT NULL AND runs.state = 'queued' ORDER BY at LIMIT ?`);
  const countWaits = database.prepare(`
    SELECT count(*) AS count FROM budget_entries JOIN runs ON runs.id = run
    WHERE waits_for IS NOT NULL AND runs.state = 'queued'`);

  const countWaitsFor = database.prepare(BUDGET_STATEMENTS.COUNT_WAITS_FOR);

  function measureAll(limits: readonly BudgetLimit[], except: string): BudgetUse[] {
    return limits.map(({ scope, name, since }) => {
      const row = measure[scope].get(since, except, ...(scope === 'day' ? [] : [name])) ?? {};
      return {
        tokens: Number(row['tokens']),
        cost: Number(row['cost']),
        heldTokens: Number(row['held_tokens']),
        heldCost: Number(row['held_cost']),
      };
    });
  }

  return {
    async noteRequest({ run, caller, issueRef, now }) {
      await database.write(() => note.run(run, caller, issueRef, now));
    },
    findRequest: async (run) =>
      database.read(() => {
        const row = find.get(run);
        if (row === undefined) return undefined;
        return { caller: readName(row['caller']), issueRef: readName(row['issue_ref']) };
      }),
    reserveBudget: async ({ run, issueRef, now, limits }) =>
      database.write(() => {
        forget.run(now - BUDGET_ROWS_MS);
        const share = shareBudgets(limits, measureAll(limits, run));
        if ('exhausted' in share) {
          hold.run(run, issueRef, now, 0, 0, describeBudget(share.exhausted));
          return share.exhausted;
        }
        hold.run(run, issueRef, now, share.tokens, share.cost, null);
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
        issues: listIssues.all(limit).map((row) => readText(row, 'issue_ref')),
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

/** A run that waits has used nothing and holds nothing. */
const IS_USED = `(tokens > 0 OR cost > 0 OR held_tokens > 0 OR held_cost > 0)`;

/** The share of a run counts until it has ended, however it ended. */
const measureEntries = (index: string, condition: string): string => `
  SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost,
    coalesce(sum(max(tokens, CASE WHEN open THEN held_tokens ELSE 0 END)), 0) AS held_tokens,
    coalesce(sum(max(cost, CASE WHEN open THEN held_cost ELSE 0 END)), 0) AS held_cost
  FROM (
    SELECT entries.*, runs.state IN ('running', 'waiting') AS open
    FROM budget_entries AS entries INDEXED BY ${index} LEFT JOIN runs ON runs.id = run
    WHERE ${IS_USED} AND at >= ?1 AND run <> ?2${condition})`;

/** Also for the test of their plans. */
export const BUDGET_STATEMENTS = {
  MEASURE_DAY: measureEntries('budget_entries_used', ''),
  MEASURE_ISSUE: measureEntries('budget_entries_by_issue', ' AND entries.issue_ref = ?3'),
  MEASURE_CALLER: measureEntries('budget_entries_used', ' AND caller = ?3'),
  COUNT_WAITS_FOR: `
    SELECT count(*) AS count FROM (
      SELECT 1 FROM budget_entries INDEXED BY budget_entries_waiting CROSS JOIN runs ON runs.id = run
      WHERE waits_for = ? AND runs.state = 'queued' LIMIT ${MAX_COUNTED_WAITS})`,
} as const;

function readName(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
