import { ADVISORY_LOCKS } from './advisory-locks.js';
import { BUDGET_ROWS_MS, MAX_COUNTED_WAITS, describeBudget, findExceeded, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { readColumns } from './rows.js';

/** Creates the part of the store that tracks what runs use and hold of budgets. */
export function createBudgets({ database }: Context): Budgets {
  return {
    async noteRequest({ run, caller, issueRef, now }) {
      await database.query(
        `INSERT INTO sluice.budget_entries (run, caller, issue_ref, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run) DO NOTHING`,
        [run, caller, issueRef, now],
      );
    },
    async findRequest(run) {
      const { rows } = await database.query(`SELECT caller, issue_ref FROM sluice.budget_entries WHERE run = $1`, [
        run,
      ]);
      if (rows[0] === undefined) return undefined;
      const { caller, issue_ref: issueRef } = rows[0];
      return { caller: readName(caller), issueRef: readName(issueRef) };
    },
    reserveBudget: async ({ run, issueRef, now, limits }) =>
      database.transaction(async (transaction) => {
        // A separate statement, so that the next one sees what the previous holder has written.
        await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [ADVISORY_LOCKS.budgets]);
        await transaction.query(`DELETE FROM sluice.budget_entries WHERE at < $1`, [now - BUDGET_ROWS_MS]);
        const share = shareBudgets(limits, await measureAll(transaction, limits, run));
        const isHeld = !('exhausted' in share);
        await transaction.query(HOLD, [
          run,
          issueRef,
          now,
          isHeld ? share.tokens : 0,
          isHeld ? share.cost : 0,
          isHeld ? null : describeBudget(share.exhausted),
        ]);
        return isHeld ? undefined : share.exhausted;
      }),
    spendBudget: async (spending) =>
      database.transaction(async (transaction) => {
        await transaction.query(
          `UPDATE sluice.budget_entries SET tokens = greatest(tokens, $2), cost = greatest(cost, $3) WHERE run = $1`,
          [spending.run, spending.tokens, spending.cost],
        );
        return findExceeded(spending, await measureAll(transaction, spending.limits, spending.run));
      }),
    measureBudgets: async (limits) => database.transaction(async (transaction) => measureAll(transaction, limits, '')),
    async listBudgetUse(limit) {
      const { rows: issues } = await database.query(
        `SELECT issue_ref FROM sluice.budget_entries WHERE issue_ref IS NOT NULL
         GROUP BY issue_ref ORDER BY sum(tokens) DESC, issue_ref COLLATE "C" LIMIT $1`,
        [limit],
      );
      const { rows: waiting } = await database.query(
        `SELECT run, waits_for FROM sluice.budget_entries JOIN sluice.runs ON runs.id = run
         WHERE waits_for IS NOT NULL AND runs.state = 'queued' ORDER BY at LIMIT $1`,
        [limit],
      );
      return {
        issues: issues.map((row) => readColumns(row).text('issue_ref')),
        waiting: waiting.map((row) => ({
          run: readColumns(row).text('run'),
          budget: readColumns(row).text('waits_for'),
        })),
      };
    },
    async countBudgetWaits(budget) {
      const { rows } = await (budget === undefined
        ? database.query(COUNT_WAITS)
        : database.query(COUNT_WAITS_FOR, [budget, MAX_COUNTED_WAITS]));
      return readColumns(rows[0] ?? {}).number('count');
    },
  };
}

const HOLD = `
  INSERT INTO sluice.budget_entries (run, issue_ref, at, held_tokens, held_cost, waits_for) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (run) DO UPDATE SET at = EXCLUDED.at, held_tokens = EXCLUDED.held_tokens, held_cost = EXCLUDED.held_cost,
    waits_for = EXCLUDED.waits_for`;

const COUNT_WAITS = `
  SELECT count(*)::integer AS count FROM sluice.budget_entries JOIN sluice.runs ON runs.id = run
  WHERE waits_for IS NOT NULL AND runs.state = 'queued'`;

const COUNT_WAITS_FOR = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM sluice.budget_entries JOIN sluice.runs ON runs.id = run
    WHERE waits_for = $1 AND runs.state = 'queued' LIMIT $2) AS counted`;

/** The share of a run counts until it has ended, however it ended. A run that waits has used nothing and holds nothing. */
const measureEntries = (condition: string): string => `
  SELECT coalesce(sum(tokens), 0)::double precision AS tokens, coalesce(sum(cost), 0)::double precision AS cost,
    coalesce(sum(greatest(tokens, CASE WHEN open THEN held_tokens ELSE 0 END)), 0)::double precision AS held_tokens,
    coalesce(sum(greatest(cost, CASE WHEN open THEN held_cost ELSE 0 END)), 0)::double precision AS held_cost
  FROM (
    SELECT entries.*, coalesce(runs.state IN ('running', 'waiting'), false) AS open
    FROM sluice.budget_entries AS entries LEFT JOIN sluice.runs ON runs.id = run
    WHERE (tokens > 0 OR cost > 0 OR held_tokens > 0 OR held_cost > 0) AND at >= $1 AND run <> $2${condition}) AS counted`;

const MEASURE = {
  day: measureEntries(''),
  issue: measureEntries(' AND entries.issue_ref = $3'),
  caller: measureEntries(' AND entries.caller = $3'),
} as const;

async function measureAll(
  transaction: Queryable,
  limits: readonly BudgetLimit[],
  except: string,
): Promise<readonly BudgetUse[]> {
  const uses: BudgetUse[] = [];
  for (const { scope, name, since } of limits) {
    const { rows } = await transaction.query(MEASURE[scope], [since, except, ...(scope === 'day' ? [] : [name])]);
    const columns = readColumns(rows[0] ?? {});
    uses.push({
      tokens: columns.number('tokens'),
      cost: columns.number('cost'),
      heldTokens: columns.number('held_tokens'),
      heldCost: columns.number('held_cost'),
    });
  }
  return uses;
}

function readName(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
