import { ADVISORY_LOCKS } from './advisory-locks.js';
import { BUDGET_ROW_TTL_MS, MAX_COUNTED_WAITS, describeBudget, findExceeded, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';
import { readColumns } from './rows.js';

/** Creates the store's budget methods. */
export function createBudgets({ database }: Context): Budgets {
  return {
    async recordRequest({ run, caller, issueRef, now }) {
      await database.query(
        `WITH expired AS (
           DELETE FROM sluice.budget_entries
           WHERE run IN (SELECT run FROM sluice.budget_entries WHERE at < $5 LIMIT 100 FOR UPDATE SKIP LOCKED)
         )
         INSERT INTO sluice.budget_entries (run, caller, issue_ref, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run) DO NOTHING`,
        [run, caller, issueRef, now, now - BUDGET_ROW_TTL_MS],
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
        // A separate statement, so the next statement sees the previous lock holder's changes.
        await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [ADVISORY_LOCKS.budgets]);
        const share = shareBudgets(limits, await measureAll(transaction, limits, run));
        const isReserved = !('exhausted' in share);
        await transaction.query(RESERVE, [
          run,
          issueRef,
          now,
          isReserved ? share.tokens : 0,
          isReserved ? share.cost : 0,
          isReserved ? null : describeBudget(share.exhausted),
          now - BUDGET_ROW_TTL_MS,
        ]);
        return isReserved ? undefined : share.exhausted;
      }),
    async spendBudget(spending) {
      const { run, tokens, cost, limits } = spending;
      const { rows } = await database.query(SPEND, [...listMeasureValues(limits, run), tokens, cost]);
      return findExceeded(spending, rows.map(readUse));
    },
    measureBudgets: async (limits) => measureAll(database, limits, ''),
    async listBudgetUse(limit) {
      const { rows: issues } = await database.query(
        `SELECT name FROM sluice.budget_totals WHERE scope = 'issue' GROUP BY name ORDER BY sum(tokens) DESC, name LIMIT $1`,
        [limit],
      );
      const { rows: waiting } = await database.query(
        `SELECT run, waits_for FROM sluice.budget_entries JOIN sluice.runs ON runs.id = run
         WHERE waits_for IS NOT NULL AND runs.state = 'queued' ORDER BY at LIMIT $1`,
        [limit],
      );
      return {
        issues: issues.map((row) => readColumns(row).text('name')),
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

/** Also deletes entries that no longer count against any budget. */
const RESERVE = `
  WITH expired AS (
    DELETE FROM sluice.budget_entries WHERE at < $7 AND run <> $1
  ), expired_totals AS (
    DELETE FROM sluice.budget_totals WHERE day < $7 / 86400000
  )
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

const IS_COUNTED = `at >= since AND CASE scope WHEN 'day' THEN true WHEN 'issue' THEN issue_ref = name ELSE caller = name END`;

/**
 * Returns, for each budget, the usage of all runs except one, and that usage plus the unused shares of open runs. Usage
 * comes from daily totals; only open runs are read one by one. A run's share counts until it has ended, however it
 * ended.
 */
const MEASURE = `
  SELECT used.tokens - own.tokens AS tokens, used.cost - own.cost AS cost,
    used.tokens - own.tokens + held.tokens AS held_tokens, used.cost - own.cost + held.cost AS held_cost
  FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS wanted (scope, name, since, place)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(totals.tokens), 0) AS tokens, coalesce(sum(totals.cost), 0) AS cost
      FROM sluice.budget_totals AS totals
      WHERE totals.scope = wanted.scope AND totals.name = wanted.name AND day >= since / 86400000) AS used
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
      FROM sluice.budget_entries WHERE run = $4 AND ${IS_COUNTED}) AS own
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(greatest(held_tokens - tokens, 0)), 0) AS tokens,
        coalesce(sum(greatest(held_cost - cost, 0)), 0) AS cost
      FROM sluice.runs JOIN sluice.budget_entries ON run = runs.id
      WHERE runs.state IN ('running', 'waiting') AND run <> $4 AND ${IS_COUNTED}) AS held
  ORDER BY place`;

/** One statement is enough, because it does not change the usage of other runs. */
const SPEND = `
  WITH spent AS (
    UPDATE sluice.budget_entries SET tokens = greatest(tokens, $5), cost = greatest(cost, $6) WHERE run = $4
  )
  ${MEASURE}`;

function listMeasureValues(limits: readonly BudgetLimit[], except: string): unknown[] {
  return [limits.map(({ scope }) => scope), limits.map(({ name }) => name), limits.map(({ since }) => since), except];
}

async function measureAll(
  queryable: Queryable,
  limits: readonly BudgetLimit[],
  except: string,
): Promise<readonly BudgetUse[]> {
  const { rows } = await queryable.query(MEASURE, listMeasureValues(limits, except));
  return rows.map(readUse);
}

function readUse(row: Row): BudgetUse {
  const { number } = readColumns(row);
  return {
    tokens: number('tokens'),
    cost: number('cost'),
    heldTokens: number('held_tokens'),
    heldCost: number('held_cost'),
  };
}

function readName(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
