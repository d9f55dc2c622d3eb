import type { ExecutionRecord, IssueRecord, OrderState, RunRecord } from '../records/index.js';
import type { ExecutionFilter, Listed, OrderStore, Page, RunFilter } from '../ports/index.js';
import type { Dialect, Row, Session, Value } from '../driver.js';
import { formatTimeCursor, MAX_SEQUENCE, readExecutionPage, readPage, readTimePage, toListed } from '../page.js';
import type { TimePosition } from '../page.js';
import { readIssue, readItem, readJson, readNumber, readOrder, readRun, readText } from '../rows.js';
import { splitWords } from '../run-digest.js';

/** A list condition and the values of its parameters, written `?`; ignored if its first value is undefined. */
type Condition = readonly [sql: string, ...values: (Value | undefined)[]];

/** Conditions on columns that must have a value; undefined values are ignored. */
export function equal(values: Readonly<Record<string, Value | undefined>>): readonly Condition[] {
  return Object.entries(values).map(([column, value]) => [`${column} = ?`, value]);
}

/** The rows of a list and their order. Conditions are constants; untrusted values are always bound. */
export interface ListQuery {
  readonly table: string;
  readonly order: 'newest' | 'oldest';
  readonly conditions: readonly Condition[];
}

/** Returns one page of a table. */
export async function listRows<T>(
  session: Session,
  page: Page,
  query: ListQuery,
  read: (row: Row) => T,
): Promise<Listed<T>> {
  const window = readPage(page);
  const { sql, values } = buildListStatement(query, window.after);
  const rows = await session.all(sql, [...values, window.size + 1]);
  return toListed(rows, window.size, read, formatSeq);
}

/** Returns one page of rows ordered by the time in a column. The parameters are a position and the limit. */
export async function listByTime<T>(
  session: Session,
  page: Page & { readonly since: number },
  { sql, column }: { readonly sql: string; readonly column: string },
  read: (row: Row) => T,
): Promise<Listed<T>> {
  const { size, after } = readTimePage(page);
  return toListed(await session.all(sql, [...after, size + 1]), size, read, (row) => formatTimeCursor(row, column));
}

const readSeq = (row: Row): number => readNumber(row, 'seq');
const formatSeq = (row: Row): string => String(readSeq(row));

interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Builds a list statement; its last parameter is the limit. */
export function buildListStatement({ table, order, conditions }: ListQuery, after: number | null): Statement {
  const next: Condition = [order === 'newest' ? 'seq < ?' : 'seq > ?', after ?? undefined];
  return buildStatement(table, [...conditions, next], order === 'newest' ? 'seq DESC' : 'seq');
}

function buildStatement(table: string, conditions: readonly Condition[], order: string): Statement {
  const active = conditions.filter(([sql, value]) => !sql.includes('?') || value !== undefined);
  const values = active.flatMap(([, ...bound]) => bound.filter((value) => value !== undefined));
  const where = active.length === 0 ? '' : `WHERE ${active.map(([sql]) => sql).join(' AND ')}`;
  let number = 0;
  const sql = `SELECT * FROM ${table} ${where} ORDER BY ${order} LIMIT ?`.replaceAll('?', () => `$${(number += 1)}`);
  return { sql, values };
}

/** The condition for each order state, in a form that an index supports; an open order has its run's state. */
export const ORDER_STATES: Readonly<Record<OrderState, string>> = {
  queued: `settled_at IS NULL AND state = 'queued'`,
  running: `settled_at IS NULL AND state = 'running'`,
  settled: 'decision IS NOT NULL',
  canceled: 'settled_at IS NOT NULL AND decision IS NULL',
};

/** Creates the store's methods for listing and finding issues, orders, inbox items and executions. */
export function createOrderLists(session: Session, searchWindow: number) {
  return {
    findIssue: async (issueRef) => findOne(session, 'SELECT * FROM issues WHERE issue_ref = $1', [issueRef], readIssue),

    findOrder: async (issueRef, runId) =>
      findOne(
        session,
        'SELECT * FROM order_records WHERE issue_ref = $1 AND run_id = $2',
        [issueRef, runId],
        readOrder,
      ),

    async listIssues(filter) {
      if (filter.search !== undefined) return searchIssues(session, filter, filter.search, searchWindow);
      const conditions = equal({ state: filter.state });
      return listRows(session, filter, { table: 'issues', order: 'newest', conditions }, readIssue);
    },

    listOrders: async ({ issueRef, state, open, ...page }) => {
      const isOpen = open === true || state === 'queued' || state === 'running';
      const conditions: readonly Condition[] = [
        ...equal({ issue_ref: issueRef }),
        ...(state === undefined ? [] : [[ORDER_STATES[state]] as const]),
        ...(open === true ? [['settled_at IS NULL'] as const] : []),
      ];
      const order = isOpen ? 'oldest' : 'newest';
      return listRows(session, page, { table: 'order_records', order, conditions }, readOrder);
    },

    findItem: async (id) => findOne(session, 'SELECT * FROM inbox WHERE id = $1', [id], readItem),

    listInbox: async ({ open, issueRef, order = 'oldest', ...page }) => {
      const conditions: readonly Condition[] = [
        ...equal({ issue_ref: issueRef }),
        ...(open === undefined ? [] : [[open ? 'resolution IS NULL' : 'resolution IS NOT NULL'] as const]),
      ];
      return listRows(session, page, { table: 'inbox', order, conditions }, readItem);
    },

    async listExecutions(filter) {
      const { size, before } = readExecutionPage(filter);
      const { sql, values } = buildExecutionsStatement(filter, before);
      const rows = await session.all(sql, [...values, size + 1]);
      return toListed(
        rows,
        size,
        (row) => readJson(row, 'record') as ExecutionRecord,
        (row) => `${readText(row, 'at')}~${readSeq(row)}`,
      );
    },
  } satisfies Partial<OrderStore>;
}

/** Finds a row by its key. */
export async function findOne<T>(
  session: Session,
  sql: string,
  values: readonly Value[],
  read: (row: Row) => T,
): Promise<T | undefined> {
  const row = await session.get(sql, values);
  return row === undefined ? undefined : read(row);
}

/** Builds the statement of an execution list, newest first; every executions index ends with the time. */
export function buildExecutionsStatement(
  { issueRef, runId, worker, decision, since }: ExecutionFilter,
  before: readonly [at: string, seq: number] | undefined,
): Statement {
  const conditions: readonly Condition[] = [
    ...equal({ issue_ref: issueRef, run_id: runId, worker, decision }),
    ['at >= ?', since],
    ['(at, seq) < (?, ?)', ...(before ?? [])],
  ];
  return buildStatement('executions', conditions, 'at DESC, seq DESC');
}

export const FIND_ISSUE_FLOOR = 'SELECT seq FROM issues WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2';

export const SEARCH_ISSUES = `
  SELECT * FROM issues
  WHERE seq < $1 AND seq >= $2
    AND ($3::text IS NULL OR state = $3)
    AND NOT EXISTS (SELECT 1 FROM each($4) AS word WHERE strpos(lower(issue_ref), word.value) = 0)
  ORDER BY seq DESC LIMIT $5`;

async function searchIssues(
  session: Session,
  { state, ...page }: Page & { readonly state?: IssueRecord['state'] },
  search: string,
  window: number,
): Promise<Listed<IssueRecord>> {
  const { size, after } = readPage(page);
  const before = after ?? MAX_SEQUENCE;
  const floor = await findOne(session, FIND_ISSUE_FLOOR, [before, window - 1], readSeq);
  const words = JSON.stringify(splitWords(search));
  const rows = await session.all(SEARCH_ISSUES, [before, floor ?? 0, state ?? null, words, size + 1]);
  return toListed(rows, size, readIssue, formatSeq, floor === undefined ? null : String(floor));
}

/**
 * A search of runs, which are read in the order of one time, newest first: of their end if the search has a bound for
 * it, otherwise of their creation. So a page starts at the latest time that was asked for.
 */
interface RunSearch {
  readonly size: number;
  readonly order: 'created_at' | 'ended_at';
  /** Only runs before this position. */
  readonly before: TimePosition;
  /** Only runs at this time or later. */
  readonly from: number;
  readonly words: readonly string[];
  readonly filter: RunFilter;
}

/** Parses a search; undefined for a plain list, which an index already orders. */
export function readRunSearch(filter: RunFilter): RunSearch | undefined {
  const { limit: _limit, cursor: _cursor, state: _state, engine: _engine, ...searched } = filter;
  if (Object.values(searched).every((one) => one === undefined)) return undefined;
  const { since, until, endedSince, endedUntil, search = '' } = searched;
  const isByEnd = endedSince !== undefined || endedUntil !== undefined;
  const [from = 0, to = MAX_SEQUENCE] = isByEnd ? [endedSince, endedUntil] : [since, until];
  const { size, after } = readTimePage({ ...filter, since: to });
  return {
    size,
    order: isByEnd ? 'ended_at' : 'created_at',
    before: after,
    from,
    words: splitWords(search),
    filter,
  };
}

/** The statements of a run search, in the order of a time; `among` and `countAmong` read only the runs of a list. */
export function buildRunSearch(
  order: RunSearch['order'],
): Record<'findFloor' | 'search' | 'count' | 'among' | 'countAmong', string> {
  const index = order === 'ended_at' ? 'run_digests_by_end' : 'run_digests_by_creation';
  // SQLite uses an index of some rows only if the statement says which.
  const isListed = `digest.${order} IS NOT NULL`;
  // Only the digests are scanned; in SQLite, `CROSS JOIN` makes it read the runs last. PostgreSQL estimates how many rows have
  // times between two bounds, but not pairs, and would otherwise read all; the `+ 0` keeps it from the index of the other time.
  const matches = (digests: string, runs: string): string => `
      FROM ${digests} CROSS JOIN ${runs} AS runs ON runs.seq = digest.seq
      WHERE ${isListed} AND (digest.${order}, digest.seq) < ($1, $2) AND (digest.${order}, digest.seq) >= ($3, $4)
        AND digest.${order} <= $1 AND digest.${order} >= $3
        AND ($5::text IS NULL OR digest.engine = $5)
        AND ($6::text IS NULL OR digest.outcome = $6)
        AND ($7::text IS NULL OR digest.repair_level = $7)
        AND digest.created_at + 0 >= $8 AND digest.created_at + 0 < $9
        AND NOT EXISTS (SELECT 1 FROM each($10) AS word WHERE NOT EXISTS (
          SELECT 1 FROM run_words
          WHERE number BETWEEN digest.seq * 2 AND digest.seq * 2 + 1 AND strpos(words, word.value) > 0))
        AND ($11::text IS NULL OR runs.state = $11)
        AND ($12::text IS NULL OR digest.usage::json ->> 'model' = $12)
        AND ($13::text IS NULL OR digest.engine_version = $13)`;
  const scanned = `run_digests AS digest INDEXED BY ${index}`;
  const listed = '(SELECT * FROM run_digests WHERE seq IN each($14)) AS digest';
  const selected = `SELECT runs.*, digest.${order} AS at`;
  const sorted = `ORDER BY digest.${order} DESC, digest.seq DESC`;
  return {
    /** Finds the last row that a page reads. */
    findFloor: `
      SELECT seq, ${order} AS at FROM run_digests AS digest INDEXED BY ${index}
      WHERE ${isListed} AND (${order}, seq) < ($1, $2) AND ${order} >= $3
      ORDER BY ${order} DESC, seq DESC LIMIT 1 OFFSET $4`,
    search: `${selected} ${matches(scanned, 'run_records')} ${sorted} LIMIT $14`,
    count: `SELECT count(*) AS total ${matches(scanned, 'runs')}`,
    among: `${selected} ${matches(listed, 'run_records')} ${sorted} LIMIT $15`,
    countAmong: `SELECT count(*) AS total ${matches(listed, 'runs')}`,
  };
}

const RUN_SEARCHES = { created_at: buildRunSearch('created_at'), ended_at: buildRunSearch('ended_at') } as const;

/** How searches read runs: as many as the window per page, or those that the index finds. */
export type SearchMeans = Pick<Dialect, 'findWord'> & { readonly window: number };

/** Frequent words are found among the newest runs, without the index. */
const QUICK_WINDOW = 1000;

/** With more runs than this, a word is frequent enough to fill pages by reading all runs in their order. */
const MAX_FOUND = 5000;

/** Returns one page of a run search. */
export async function searchRuns(
  session: Session,
  search: RunSearch,
  { window, findWord }: SearchMeans,
): Promise<Listed<RunRecord>> {
  const quick = await scanRuns(session, search, search.words.length === 0 ? window : Math.min(window, QUICK_WINDOW));
  if (search.words.length === 0 || quick.items.length === search.size || quick.next_cursor === null) return quick;
  const found = await findRuns(search.words, findWord);
  if (found === undefined) return scanRuns(session, search, window);
  const values = [...listSearchValues(search), JSON.stringify(found), search.size + 1];
  const rows = await session.all(RUN_SEARCHES[search.order].among, values);
  return toListed(rows, search.size, readRun, formatPosition);
}

/** Returns one page of a search that reads a window of runs. */
async function scanRuns(session: Session, runSearch: RunSearch, window: number): Promise<Listed<RunRecord>> {
  const { before, from, order, size } = runSearch;
  const { findFloor, search } = RUN_SEARCHES[order];
  const floor = await session.get(findFloor, [...before, from, window - 1]);
  const last = floor && ([readNumber(floor, 'at'), readSeq(floor)] as const);
  const rows = await session.all(search, [...listSearchValues(runSearch, last), size + 1]);
  return toListed(rows, size, readRun, formatPosition, floor && formatPosition(floor));
}

/** Finds the runs of the rarest word by the index; undefined without an index, or if all words are too short or frequent. */
async function findRuns(
  words: readonly string[],
  findWord: Dialect['findWord'],
): Promise<readonly number[] | undefined> {
  let rarest: readonly number[] | undefined;
  for (const word of words) {
    const found = await findWord?.(word, MAX_FOUND + 1);
    if (found !== undefined && found.length <= MAX_FOUND && found.length < (rarest?.length ?? Infinity)) rarest = found;
  }
  // A run is found twice if its request and its end contain the word.
  return rarest && [...new Set(rarest)];
}

/** How many pages of a search may be read to count what it finds. SQLite does nothing else meanwhile. */
const MAX_COUNTED_PAGES = 5;

/** Counts the runs that a search finds; undefined if too many would have to be read. */
export async function countSearch(
  session: Session,
  search: RunSearch,
  { window, findWord }: SearchMeans,
): Promise<number | undefined> {
  const { before, from, order } = search;
  const { findFloor, count, countAmong } = RUN_SEARCHES[order];
  const values = listSearchValues(search);
  const isShort = (await session.get(findFloor, [...before, from, MAX_COUNTED_PAGES * window])) === undefined;
  const found = isShort ? undefined : await findRuns(search.words, findWord);
  if (!isShort && found === undefined) return undefined;
  const row = await (found === undefined
    ? session.get(count, values)
    : session.get(countAmong, [...values, JSON.stringify(found)]));
  return readNumber(row ?? {}, 'total');
}

function listSearchValues({ before, from, words, filter }: RunSearch, last: TimePosition = [from, 0]): Value[] {
  return [
    ...before,
    ...last,
    filter.engine ?? null,
    filter.outcome ?? null,
    filter.repairLevel ?? null,
    filter.since ?? 0,
    filter.until ?? MAX_SEQUENCE,
    JSON.stringify(words),
    filter.state ?? null,
    filter.model ?? null,
    filter.engineVersion ?? null,
  ];
}

const formatPosition = (row: Row): string => formatTimeCursor(row, 'at');
