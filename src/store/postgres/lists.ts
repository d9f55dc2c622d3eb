import type { ExecutionFilter, Listed, OrderStore, Page } from '../../orders/index.js';
import type { ExecutionRecord, IssueRecord, OrderState } from '../../records/index.js';
import { formatExecutionCursor, readExecutionPage, readPage, toListed, toSearchPage } from '../page.js';
import { chooseFloor, readIssueSearch } from '../search.js';
import type { IssueSearch, RunSearch } from '../search.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';
import { readColumns, readIssue, readItem, readOrder } from './rows.js';

/** A condition and the value of its single parameter, written `?`; ignored without a value. */
export type Condition = readonly [sql: string, value: string | undefined];

/** The rows of a list and their order. */
export interface ListSpec<T> {
  readonly table: string;
  readonly order: 'newest' | 'oldest';
  readonly conditions: readonly Condition[];
  /** Conditions without a parameter. */
  readonly fixed?: readonly string[];
  readonly read: (row: Row) => T;
}

/** Returns one page of the matching records. */
export async function listRows<T>(database: Queryable, page: Page, spec: ListSpec<T>): Promise<Listed<T>> {
  const window = readPage(page);
  const values: (string | number)[] = [window.size + 1];
  const conditions = [...(spec.fixed ?? [])];
  for (const [sql, value] of spec.conditions) {
    if (value === undefined) continue;
    values.push(value);
    conditions.push(sql.replace('?', `$${values.length}`));
  }
  if (window.after !== null) {
    values.push(window.after);
    conditions.push(`seq ${spec.order === 'newest' ? '<' : '>'} $${values.length}`);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const direction = spec.order === 'newest' ? 'DESC' : 'ASC';
  const { rows } = await database.query(
    `SELECT * FROM sluice.${spec.table} ${where} ORDER BY seq ${direction} LIMIT $1`,
    values,
  );
  return toListed(rows, window, spec.read, (row) => readColumns(row).number('seq'));
}

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** The condition for each order state, in a form that an index supports; an open order has its run's state. */
const ORDER_STATES: Readonly<Record<OrderState, string>> = {
  queued: `state = 'queued'`,
  running: `state = 'running'`,
  settled: 'decision IS NOT NULL',
  canceled: 'settled_at IS NOT NULL AND decision IS NULL',
};

/** Creates the store's methods for listing and finding issues, orders, inbox items and executions. */
export function createOrderLists({ database }: Context, searchWindow: number): OrderLists {
  async function findOne<T>(sql: string, values: readonly string[], read: (row: Row) => T): Promise<T | undefined> {
    const { rows } = await database.query(sql, values);
    return rows[0] === undefined ? undefined : read(rows[0]);
  }

  return {
    findIssue: (issueRef) => findOne(`SELECT * FROM sluice.issues WHERE issue_ref = $1`, [issueRef], readIssue),

    findOrder: (issueRef, runId) =>
      findOne(`SELECT * FROM sluice.order_records WHERE issue_ref = $1 AND run_id = $2`, [issueRef, runId], readOrder),

    async listIssues(filter) {
      const search = readIssueSearch(filter);
      if (search !== undefined) return searchIssues(database, search, searchWindow);
      const { state, ...page } = filter;
      const conditions = [['state = ?', state]] as const;
      return listRows(database, page, { table: 'issues', order: 'newest', conditions, read: readIssue });
    },

    listOrders({ issueRef, state, open, ...page }) {
      const isOpen = open === true || state === 'queued' || state === 'running';
      return listRows(database, page, {
        table: 'order_records',
        order: isOpen ? 'oldest' : 'newest',
        fixed: [...(isOpen ? ['settled_at IS NULL'] : []), ...(state === undefined ? [] : [ORDER_STATES[state]])],
        conditions: [['issue_ref = ?', issueRef]],
        read: readOrder,
      });
    },

    findItem: (id) => findOne(`SELECT * FROM sluice.inbox WHERE id = $1`, [id], readItem),

    listInbox: ({ open, issueRef, order = 'oldest', ...page }) =>
      listRows(database, page, {
        table: 'inbox',
        order,
        fixed: open === undefined ? [] : [`resolution IS ${open ? '' : 'NOT '}NULL`],
        conditions: [['issue_ref = ?', issueRef]],
        read: readItem,
      }),

    listExecutions: (filter) => listExecutions(database, filter),
  };
}

/** Returns one page of executions, newest first; every executions index ends with the time. */
async function listExecutions(database: Queryable, filter: Page & ExecutionFilter): Promise<Listed<ExecutionRecord>> {
  const { issueRef, runId, worker, decision, since } = filter;
  const window = readExecutionPage(filter);
  const conditions: readonly (readonly [sql: string, ...values: (string | number | undefined)[]])[] = [
    ['issue_ref = ?', issueRef],
    ['run_id = ?', runId],
    ['worker = ?', worker],
    ['decision = ?', decision],
    ['at >= ?', since],
    ['at < ?', window.until ?? undefined],
    ['(at, seq) < (?, ?)', window.after?.at, window.after?.sequence],
  ];
  const values: (string | number)[] = [window.size + 1];
  const active = conditions
    .filter(([, value]) => value !== undefined)
    .map(([sql, ...parameters]) => {
      const bound = parameters.filter((value) => value !== undefined);
      return bound.reduce<string>((text, value) => text.replace('?', `$${values.push(value)}`), sql);
    });
  const where = active.length === 0 ? '' : `WHERE ${active.join(' AND ')}`;
  const { rows } = await database.query(
    `SELECT * FROM sluice.executions ${where} ORDER BY at DESC, seq DESC LIMIT $1`,
    values,
  );
  return toListed(
    rows,
    window,
    (row) => readColumns(row).json('record') as ExecutionRecord,
    (row) => formatExecutionCursor({ at: readColumns(row).text('at'), sequence: readColumns(row).number('seq') }),
  );
}

const FIND_ISSUE_FLOOR = `SELECT seq FROM sluice.issues WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2`;

const SEARCH_ISSUES = `
  SELECT * FROM sluice.issues
  WHERE seq < $1 AND seq >= $2
    AND ($3::text IS NULL OR state = $3)
    AND NOT EXISTS (SELECT FROM unnest($4::text[]) AS word WHERE strpos(lower(issue_ref), word) = 0)
  ORDER BY seq DESC LIMIT $5`;

/** Returns one page of an issue search. */
async function searchIssues(
  database: Queryable,
  { page, before, state, words }: IssueSearch,
  window: number,
): Promise<Listed<IssueRecord>> {
  const { rows: floors } = await database.query(FIND_ISSUE_FLOOR, [before, window - 1]);
  const floor = floors[0] === undefined ? undefined : readColumns(floors[0]).number('seq');
  const { rows } = await database.query(SEARCH_ISSUES, [before, floor ?? 0, state, words, page.size + 1]);
  return toSearchPage(rows, page, floor, readIssue, (row) => readColumns(row).number('seq'));
}

/** Finds the last row that a page reads. */
const FIND_FLOOR = `
  SELECT seq, created_at FROM sluice.run_digests WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2`;

/** Scans only the digests; runs are read only if they match. */
const SEARCH_RUNS = `
  SELECT runs.* FROM sluice.run_digests AS digest JOIN sluice.run_records AS runs ON runs.seq = digest.seq
  WHERE digest.seq < $1 AND digest.seq >= $2
    AND ($3::text IS NULL OR digest.engine = $3)
    AND ($4::text IS NULL OR digest.outcome = $4)
    AND ($5::text IS NULL OR digest.repair_level = $5)
    AND digest.created_at >= $6 AND digest.created_at < $7
    AND NOT EXISTS (SELECT FROM unnest($8::text[]) AS word WHERE strpos(digest.words, word) = 0)
    AND ($9::text IS NULL OR runs.state = $9)
    AND ($10::bigint IS NULL OR digest.ended_at >= $10) AND ($11::bigint IS NULL OR digest.ended_at < $11)
    AND ($12::text IS NULL OR digest.usage::json ->> 'model' = $12)
    AND ($13::text IS NULL OR digest.engine_version = $13)
  ORDER BY digest.seq DESC LIMIT $14`;

/** Returns one page of a run search. */
export async function searchRuns<T>(
  database: Queryable,
  search: RunSearch,
  window: number,
  read: (row: Row) => T,
): Promise<Listed<T>> {
  const { before, engine, outcome, repairLevel, since, until, words, state, page } = search;
  const { endedSince, endedUntil, model, engineVersion } = search;
  const { rows: floors } = await database.query(FIND_FLOOR, [before, window - 1]);
  const columns = floors[0] === undefined ? undefined : readColumns(floors[0]);
  const floor =
    columns === undefined ? undefined : { sequence: columns.number('seq'), createdAt: columns.number('created_at') };
  const digest = [engine, outcome, repairLevel, since, until, words, state];
  const filters = [...digest, endedSince, endedUntil, model, engineVersion];
  const { rows } = await database.query(SEARCH_RUNS, [before, floor?.sequence ?? 0, ...filters, page.size + 1]);
  return toSearchPage(rows, page, chooseFloor(search, floor), read, (row) => readColumns(row).number('seq'));
}
