import type { OrderStore } from '../../orders/index.js';
import { readIssueSearch } from '../issue-search.js';
import type { Database } from './database.js';
import { listExecutions } from './list-executions.js';
import { equals, listRows } from './list-rows.js';
import { readIssue, readOrder } from './order-row.js';
import { readItem } from './resolve-item.js';
import { searchIssues } from './search-issues.js';

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** All open orders, through the index that is made for them: left alone, SQLite would sort them. */
export const OPEN_ORDERS = 'orders INDEXED BY orders_open';

/** The condition of that index. */
export const IS_OPEN = `state IN ('queued', 'claimed', 'running')`;

/** What can be looked up about issues, orders, the inbox and the audit. */
export function createOrderLists(database: Database, searchWindow: number): OrderLists {
  const findIssue = database.prepare('SELECT * FROM issues WHERE issue_ref = ?');
  const findOrder = database.prepare('SELECT * FROM orders WHERE issue_ref = ? AND run_id = ?');
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
      return listRows(database, 'issues', page, 'newest', [equals('state', state)], readIssue);
    },

    listOrders: async ({ issueRef, state, open, ...page }) => {
      const isOpen = open === true || state === 'queued' || state === 'claimed' || state === 'running';
      return listRows(
        database,
        open === true && issueRef === undefined && state === undefined ? OPEN_ORDERS : 'orders',
        page,
        isOpen ? 'oldest' : 'newest',
        [
          equals('issue_ref', issueRef),
          // Of an issue there are few orders, of a state there may be all: the plus keeps SQLite from its index.
          equals(issueRef === undefined ? 'state' : '+state', state),
          open === true ? [IS_OPEN] : undefined,
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
          equals('issue_ref', issueRef),
          open === undefined ? undefined : [open ? 'resolution IS NULL' : 'resolution IS NOT NULL'],
        ],
        readItem,
      ),

    listExecutions: async (filter) => listExecutions(database, filter),
  };
}
