import { BUDGET_ROW_TTL_MS, MAX_COUNTED_WAITS, describeBudget, findExceeded, shareBudgets } from '../budgets.js';
import type { BudgetLimit, Budgets, BudgetUse } from '../budgets.js';
import { checkOpen, type BudgetRow, type Tables } from './tables.js';

/** Creates the store's budget methods. */
export function createBudgets(tables: Tables): Budgets {
  const { budgets, runs } = tables;

  function measureAll(limits: readonly BudgetLimit[], except: string): BudgetUse[] {
    return limits.map(({ scope, name, since }) => {
      const total = { tokens: 0, cost: 0, heldTokens: 0, heldCost: 0 };
      for (const [run, row] of budgets) {
        const isCounted = scope === 'day' || (scope === 'issue' ? row.issueRef : row.caller) === name;
        if (run === except || row.at < since || !isCounted) continue;
        const state = runs.get(run)?.record.state;
        // A run's share counts until it has ended, however it ended.
        const isOpen = state === 'running' || state === 'waiting';
        total.tokens += row.tokens;
        total.cost += row.cost;
        total.heldTokens += Math.max(row.tokens, isOpen ? row.heldTokens : 0);
        total.heldCost += Math.max(row.cost, isOpen ? row.heldCost : 0);
      }
      return total;
    });
  }

  function deleteBefore(time: number): void {
    for (const [run, { at }] of budgets) if (at < time) budgets.delete(run);
  }

  /** Lists queued runs waiting for a budget, the longest-waiting run first. */
  function listWaiting(): { readonly run: string; readonly budget: string }[] {
    return [...budgets]
      .filter(([run, { waitsFor }]) => waitsFor !== null && runs.get(run)?.record.state === 'queued')
      .toSorted(([, one], [, other]) => one.at - other.at)
      .map(([run, { waitsFor }]) => ({ run, budget: waitsFor ?? '' }));
  }

  return {
    async recordRequest({ run, caller, issueRef, now }) {
      checkOpen(tables);
      deleteBefore(now - BUDGET_ROW_TTL_MS);
      if (!budgets.has(run)) budgets.set(run, { ...EMPTY, caller, issueRef, at: now });
    },
    async findRequest(run) {
      checkOpen(tables);
      const row = budgets.get(run);
      return row === undefined ? undefined : { caller: row.caller, issueRef: row.issueRef };
    },
    async reserveBudget({ run, issueRef, now, limits }) {
      checkOpen(tables);
      deleteBefore(now - BUDGET_ROW_TTL_MS);
      const share = shareBudgets(limits, measureAll(limits, run));
      const before = budgets.get(run) ?? { ...EMPTY, issueRef };
      if ('exhausted' in share) {
        budgets.set(run, { ...before, at: now, heldTokens: 0, heldCost: 0, waitsFor: describeBudget(share.exhausted) });
        return share.exhausted;
      }
      budgets.set(run, { ...before, at: now, heldTokens: share.tokens, heldCost: share.cost, waitsFor: null });
      return undefined;
    },
    async spendBudget(spending) {
      checkOpen(tables);
      const row = budgets.get(spending.run);
      if (row !== undefined) {
        const tokens = Math.max(row.tokens, spending.tokens);
        budgets.set(spending.run, { ...row, tokens, cost: Math.max(row.cost, spending.cost) });
      }
      return findExceeded(spending, measureAll(spending.limits, spending.run));
    },
    async measureBudgets(limits) {
      checkOpen(tables);
      return measureAll(limits, '');
    },
    async listBudgetUse(limit) {
      checkOpen(tables);
      const byIssue = new Map<string, number>();
      for (const { issueRef, tokens } of budgets.values()) {
        if (issueRef !== null) byIssue.set(issueRef, (byIssue.get(issueRef) ?? 0) + tokens);
      }
      const issues = [...byIssue].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
      return { issues: issues.slice(0, limit), waiting: listWaiting().slice(0, limit) };
    },
    async countBudgetWaits(name) {
      checkOpen(tables);
      if (name === undefined) return listWaiting().length;
      return Math.min(MAX_COUNTED_WAITS, listWaiting().filter(({ budget }) => budget === name).length);
    },
  };
}

const EMPTY: BudgetRow = {
  caller: null,
  issueRef: null,
  at: 0,
  tokens: 0,
  cost: 0,
  heldTokens: 0,
  heldCost: 0,
  waitsFor: null,
};
