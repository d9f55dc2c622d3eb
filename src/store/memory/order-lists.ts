import type { OrderStore } from '../../orders/index.js';
import { readIssueSearch } from '../issue-search.js';
import { listExecutions } from './list-executions.js';
import { listRows, readRecord } from './list-rows.js';
import { searchIssues } from './search-issues.js';
import { checkOpen, copyOf, orderKey, readOrder, type Tables } from './tables.js';

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** What can be looked up about issues, orders, the inbox and the executions. */
export function createOrderLists(tables: Tables, searchWindow: number): OrderLists {
  return {
    async findIssue(issueRef) {
      checkOpen(tables);
      return copyFound(tables.issues.get(issueRef)?.record);
    },

    async findOrder(issueRef, runId) {
      checkOpen(tables);
      const row = tables.orders.get(orderKey(issueRef, runId));
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
  return record === undefined ? undefined : copyOf(record);
}
