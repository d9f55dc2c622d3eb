import type { ExecutionFilter, Listed, OrderStore, Page } from '../../orders/index.js';
import type { ExecutionRecord, IssueRecord, RunRecord } from '../../records/index.js';
import { formatExecutionCursor, readExecutionPage, readPage, toListed, toSearchPage } from '../page.js';
import { buildFailureText, createDigest } from '../run-digest.js';
import type { ExecutionPosition } from '../page.js';
import { chooseFloor, readIssueSearch } from '../search.js';
import type { IssueSearch, RunSearch } from '../search.js';
import { checkOpen, copyValue, formatOrderKey, readOrder, readRun } from './tables.js';
import type { Row, RunRow, Tables } from './tables.js';

/** Returns one page of the matching rows. */
export function listRows<R extends Row<unknown>, T>(
  rows: Iterable<R>,
  page: Page,
  order: 'newest' | 'oldest',
  isWanted: (row: R) => boolean,
  read: (row: R) => T,
): Listed<T> {
  const window = readPage(page);
  const direction = order === 'newest' ? -1 : 1;
  const { after } = window;
  const found = [...rows]
    .filter((row) => (after === null || (row.sequence - after) * direction > 0) && isWanted(row))
    .toSorted((left, right) => (left.sequence - right.sequence) * direction);
  return toListed(found, window, read, ({ sequence }) => sequence);
}

export function readRecord<T>({ record }: Row<T>): T {
  return copyValue(record);
}

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** Creates the store's methods for listing and finding issues, orders, inbox items and executions. */
export function createOrderLists(tables: Tables, searchWindow: number): OrderLists {
  return {
    async findIssue(issueRef) {
      checkOpen(tables);
      return copyFound(tables.issues.get(issueRef)?.record);
    },

    async findOrder(issueRef, runId) {
      checkOpen(tables);
      const row = tables.orders.get(formatOrderKey(issueRef, runId));
      return row === undefined ? undefined : readOrder(tables, row);
    },

    async listIssues(filter) {
      checkOpen(tables);
      const search = readIssueSearch(filter);
      if (search !== undefined) return searchIssues(tables, search, searchWindow);
      const { state, ...page } = filter;
      return listRows(
        tables.issues.values(),
        page,
        'newest',
        ({ record }) => state === undefined || record.state === state,
        readRecord,
      );
    },

    async listOrders({ issueRef, state, open, ...page }) {
      checkOpen(tables);
      const isOpen = open === true || state === 'queued' || state === 'running';
      const rows = isOpen ? tables.openOrders : tables.orders.values();
      return listRows(
        rows,
        page,
        isOpen ? 'oldest' : 'newest',
        (row) =>
          (issueRef === undefined || row.record.order.issue_ref === issueRef) &&
          (state === undefined || readOrder(tables, row).state === state),
        (row) => readOrder(tables, row),
      );
    },

    async findItem(id) {
      checkOpen(tables);
      return copyFound(tables.inbox.get(id)?.record);
    },

    async listInbox({ open, issueRef, order = 'oldest', ...page }) {
      checkOpen(tables);
      return listRows(
        tables.inbox.values(),
        page,
        order,
        ({ record }) =>
          (open === undefined || (record.resolution === null) === open) &&
          (issueRef === undefined || record.issue_ref === issueRef),
        readRecord,
      );
    },

    async listExecutions(filter) {
      checkOpen(tables);
      return listExecutions(tables.executions.values(), filter);
    },
  };
}

function copyFound<T>(record: T | undefined): T | undefined {
  return record === undefined ? undefined : copyValue(record);
}

/** Returns one page of executions, newest first. */
function listExecutions(rows: Iterable<Row<ExecutionRecord>>, filter: Page & ExecutionFilter): Listed<ExecutionRecord> {
  const { issueRef, runId, worker, decision, since } = filter;
  const window = readExecutionPage(filter);
  const { after, until } = window;
  const found = [...rows]
    .filter(
      ({ sequence, record }) =>
        (issueRef === undefined || record.issue_ref === issueRef) &&
        (runId === undefined || record.run_id === runId) &&
        (worker === undefined || record.worker === worker) &&
        (decision === undefined || record.decision === decision) &&
        (since === undefined || record.at >= since) &&
        (until === null || record.at < until) &&
        (after === null || compare({ at: record.at, sequence }, after) < 0),
    )
    .toSorted((left, right) => compare(readPosition(right), readPosition(left)));
  return toListed(
    found,
    window,
    ({ record }) => copyValue(record),
    (row) => formatExecutionCursor(readPosition(row)),
  );
}

function readPosition({ sequence, record }: Row<ExecutionRecord>): ExecutionPosition {
  return { at: record.at, sequence };
}

function compare(one: ExecutionPosition, other: ExecutionPosition): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.sequence - other.sequence;
}

/** Returns one page of an issue search. */
function searchIssues({ issues }: Tables, search: IssueSearch, window: number): Listed<IssueRecord> {
  const { page, before, state, words } = search;
  const examined = [...issues.values()]
    .filter(({ sequence }) => sequence < before)
    .toSorted((left, right) => right.sequence - left.sequence)
    .slice(0, window);
  const found = examined.filter(
    ({ record }) =>
      (state === null || record.state === state) &&
      words.every((word) => record.issue_ref.toLowerCase().includes(word)),
  );
  return toSearchPage(
    found,
    page,
    examined.length === window ? examined.at(-1)?.sequence : undefined,
    ({ record }) => copyValue(record),
    ({ sequence }) => sequence,
  );
}

/** Returns one page of a run search. */
export function searchRuns(tables: Tables, search: RunSearch, window: number): Listed<RunRecord> {
  const examined = [...tables.runs.values()]
    .filter(({ sequence }) => sequence < search.before)
    .toSorted((left, right) => right.sequence - left.sequence)
    .slice(0, window);
  const last = examined.length === window ? examined.at(-1) : undefined;
  const floor =
    last === undefined ? undefined : { sequence: last.sequence, createdAt: Date.parse(last.record.created_at) };
  return toSearchPage(
    examined.filter((row) => matchesSearch(row, search)),
    search.page,
    chooseFloor(search, floor),
    (row) => readRun(tables, row),
    ({ sequence }) => sequence,
  );
}

function matchesSearch({ record, searchText }: RunRow, search: RunSearch): boolean {
  const { words, state, engine, outcome, repairLevel, since, until } = search;
  const createdAt = Date.parse(record.created_at);
  const endedAt = record.ended_at === null ? null : Date.parse(record.ended_at);
  const digest = record.result === null ? null : createDigest(record.result);
  const text = record.result === null ? searchText : searchText + buildFailureText(record.result);
  return (
    (state === null || record.state === state) &&
    (engine === null || record.spec.engine === engine) &&
    (outcome === null || record.result?.status === outcome) &&
    (repairLevel === null || record.result?.repair_level === repairLevel) &&
    createdAt >= since &&
    createdAt < until &&
    (search.endedSince === null || (endedAt !== null && endedAt >= search.endedSince)) &&
    (search.endedUntil === null || (endedAt !== null && endedAt < search.endedUntil)) &&
    (search.model === null || digest?.usage?.model === search.model) &&
    (search.engineVersion === null || digest?.engine_version === search.engineVersion) &&
    words.every((word) => text.includes(word))
  );
}
