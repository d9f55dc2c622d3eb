import type { ExecutionFilter, Listed, OrderStore, Page } from '../../orders/index.js';
import type { ExecutionRecord, IssueRecord, OrderState } from '../../records/index.js';
import { formatExecutionCursor, readExecutionPage, readPage, toListed, toSearchPage } from '../page.js';
import type { ExecutionWindow } from '../page.js';
import { chooseFloor, readIssueSearch } from '../search.js';
import type { IssueSearch, RunSearch } from '../search.js';
import type { Database } from './database.js';
import type { SqlRow, SqlValue } from './driver.js';
import { readInteger, readIssue, readItem, readJson, readOrder, readText } from './rows.js';

/** A list condition and its bound value; undefined if not requested. */
export type Condition = readonly [sql: string, value?: SqlValue] | undefined;

/** Returns one page of a table. The conditions are constants; untrusted values are always bound. */
export async function listRows<T>(
  database: Database,
  table: string,
  page: Page,
  order: 'newest' | 'oldest',
  conditions: readonly Condition[],
  read: (row: SqlRow) => T,
): Promise<Listed<T>> {
  return database.read(() => {
    const window = readPage(page);
    const active = conditions.filter((condition) => condition !== undefined);
    const { sql, values } = buildListStatement(table, order, active, window.after);
    const rows = database.prepare(sql).all(...values, window.size + 1);
    return toListed(rows, window, read, (row) => readInteger(row, 'sequence'));
  });
}

/** Builds a list statement; its last parameter is the limit. */
export function buildListStatement(
  table: string,
  order: 'newest' | 'oldest',
  conditions: readonly (readonly [sql: string, value?: SqlValue])[],
  after: number | null,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const isNext = order === 'newest' ? 'sequence < ?' : 'sequence > ?';
  const all = after === null ? conditions : [...conditions, [isNext, after] as const];
  const where = all.length === 0 ? '' : `WHERE ${all.map(([sql]) => sql).join(' AND ')}`;
  return {
    sql: `SELECT * FROM ${table} ${where} ORDER BY sequence ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ?`,
    values: all.flatMap(([, value]) => (value === undefined ? [] : [value])),
  };
}

/** Creates a condition for an optional value. */
export function buildEquals(column: string, value: string | undefined): Condition {
  return value === undefined ? undefined : [`${column} = ?`, value];
}

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** The condition for each order state, in a form that an index supports; an open order has its run's state. */
export const ORDER_STATES: Readonly<Record<OrderState, string>> = {
  queued: `settled_at IS NULL AND state = 'queued'`,
  running: `settled_at IS NULL AND state = 'running'`,
  settled: 'decision IS NOT NULL',
  canceled: 'settled_at IS NOT NULL AND decision IS NULL',
};

/** Creates the store's methods for listing and finding issues, orders, inbox items and executions. */
export function createOrderLists(database: Database, searchWindow: number): OrderLists {
  const findIssue = database.prepare('SELECT * FROM issues WHERE issue_ref = ?');
  const findOrder = database.prepare('SELECT * FROM order_records WHERE issue_ref = ? AND run_id = ?');
  const findItem = database.prepare('SELECT * FROM inbox WHERE id = ?');
  return {
    findIssue: async (issueRef) =>
      database.read(() => {
        const row = findIssue.get(issueRef);
        return row === undefined ? undefined : readIssue(row);
      }),

    findOrder: async (issueRef, runId) =>
      database.read(() => {
        const row = findOrder.get(issueRef, runId);
        return row === undefined ? undefined : readOrder(row);
      }),

    async listIssues(filter) {
      const search = readIssueSearch(filter);
      if (search !== undefined) return searchIssues(database, search, searchWindow);
      const { state, ...page } = filter;
      return listRows(database, 'issues', page, 'newest', [buildEquals('state', state)], readIssue);
    },

    listOrders: async ({ issueRef, state, open, ...page }) => {
      const isOpen = open === true || state === 'queued' || state === 'running';
      return listRows(
        database,
        'order_records',
        page,
        isOpen ? 'oldest' : 'newest',
        [
          buildEquals('issue_ref', issueRef),
          state === undefined ? undefined : [ORDER_STATES[state]],
          open === true ? ['settled_at IS NULL'] : undefined,
        ],
        readOrder,
      );
    },

    findItem: async (id) =>
      database.read(() => {
        const row = findItem.get(id);
        return row === undefined ? undefined : readItem(row);
      }),

    listInbox: async ({ open, issueRef, order = 'oldest', ...page }) =>
      listRows(
        database,
        'inbox',
        page,
        order,
        [
          buildEquals('issue_ref', issueRef),
          open === undefined ? undefined : [open ? 'resolution IS NULL' : 'resolution IS NOT NULL'],
        ],
        readItem,
      ),

    listExecutions: async (filter) => listExecutions(database, filter),
  };
}

/** Returns one page of executions, newest first; every executions index ends with the time. */
async function listExecutions(database: Database, filter: Page & ExecutionFilter): Promise<Listed<ExecutionRecord>> {
  return database.read(() => {
    const window = readExecutionPage(filter);
    const { sql, values } = buildExecutionsStatement(filter, window);
    const rows = database.prepare(sql).all(...values, window.size + 1);
    return toListed(
      rows,
      window,
      (row) => readJson(row, 'record') as ExecutionRecord,
      (row) => formatExecutionCursor({ at: readText(row, 'at'), sequence: readInteger(row, 'sequence') }),
    );
  });
}

/** Builds an execution list statement; its last parameter is the limit. */
export function buildExecutionsStatement(
  { issueRef, runId, worker, decision, since }: ExecutionFilter,
  { after, until }: ExecutionWindow,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const conditions: readonly (readonly [sql: string, ...values: (SqlValue | undefined)[]])[] = [
    ['issue_ref = ?', issueRef],
    ['run_id = ?', runId],
    ['worker = ?', worker],
    ['decision = ?', decision],
    ['at >= ?', since],
    ['at < ?', until ?? undefined],
    ['(at, sequence) < (?, ?)', after?.at, after?.sequence],
  ];
  const active = conditions.filter(([, value]) => value !== undefined);
  const where = active.length === 0 ? '' : `WHERE ${active.map(([sql]) => sql).join(' AND ')}`;
  return {
    sql: `SELECT * FROM executions ${where} ORDER BY at DESC, sequence DESC LIMIT ?`,
    values: active.flatMap(([, ...values]) => values.filter((value) => value !== undefined)),
  };
}

export const FIND_ISSUE_FLOOR = `
  SELECT sequence FROM issues WHERE sequence < ? ORDER BY sequence DESC LIMIT 1 OFFSET ?`;

export const SEARCH_ISSUES = `
  SELECT * FROM issues
  WHERE sequence < ?1 AND sequence >= ?2
    AND (?3 IS NULL OR state = ?3)
    AND NOT EXISTS (SELECT 1 FROM json_each(?4) AS word WHERE instr(lower(issue_ref), word.value) = 0)
  ORDER BY sequence DESC LIMIT ?5`;

/** Returns one page of an issue search. */
async function searchIssues(
  database: Database,
  { page, before, state, words }: IssueSearch,
  window: number,
): Promise<Listed<IssueRecord>> {
  return database.read(() => {
    const last = database.prepare(FIND_ISSUE_FLOOR).get(before, window - 1);
    const floor = last === undefined ? undefined : readInteger(last, 'sequence');
    const search = database.prepare(SEARCH_ISSUES);
    const rows = search.all(before, floor ?? 0, state, JSON.stringify(words), page.size + 1);
    return toSearchPage(rows, page, floor, readIssue, (row) => readInteger(row, 'sequence'));
  });
}

/** Finds the last row that a page reads. */
export const FIND_FLOOR = `
  SELECT sequence, created_at FROM run_digests WHERE sequence < ? ORDER BY sequence DESC LIMIT 1 OFFSET ?`;

/** Scans only the digests; the join is written so the runs are read last. */
export const SEARCH_RUNS = `
  SELECT runs.* FROM run_digests AS digest CROSS JOIN run_records AS runs ON runs.sequence = digest.sequence
  WHERE digest.sequence < ?1 AND digest.sequence >= ?2
    AND (?3 IS NULL OR digest.engine = ?3)
    AND (?4 IS NULL OR digest.outcome = ?4)
    AND (?5 IS NULL OR digest.repair_level = ?5)
    AND digest.created_at >= ?6 AND digest.created_at < ?7
    AND NOT EXISTS (SELECT 1 FROM json_each(?8) AS word WHERE instr(digest.words, word.value) = 0)
    AND (?9 IS NULL OR runs.state = ?9)
    AND (?10 IS NULL OR digest.ended_at >= ?10) AND (?11 IS NULL OR digest.ended_at < ?11)
    AND (?12 IS NULL OR digest.usage ->> '$.model' = ?12)
    AND (?13 IS NULL OR digest.engine_version = ?13)
  ORDER BY digest.sequence DESC LIMIT ?14`;

/** Returns one page of a run search. */
export async function searchRuns<T>(
  database: Database,
  search: RunSearch,
  window: number,
  read: (row: SqlRow) => T,
): Promise<Listed<T>> {
  const { before, engine, outcome, repairLevel, since, until, words, state, page } = search;
  const { endedSince, endedUntil, model, engineVersion } = search;
  return database.read(() => {
    const last = database.prepare(FIND_FLOOR).get(before, window - 1);
    const floor =
      last === undefined
        ? undefined
        : { sequence: readInteger(last, 'sequence'), createdAt: readInteger(last, 'created_at') };
    const digest = [engine, outcome, repairLevel, since, until, JSON.stringify(words), state] as const;
    const filters = [...digest, endedSince, endedUntil, model, engineVersion] as const;
    const rows = database.prepare(SEARCH_RUNS).all(before, floor?.sequence ?? 0, ...filters, page.size + 1);
    return toSearchPage(rows, page, chooseFloor(search, floor), read, (row) => readInteger(row, 'sequence'));
  });
}
