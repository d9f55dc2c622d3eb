import type { OrderStore } from '../../orders/index.js';
import type { OrderState } from '../../records/index.js';
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

/** Each state of an order by what the table itself says, so that an index serves it; of the open ones the run tells which. */
export const ORDER_STATES: Readonly<Record<OrderState, string>> = {
  queued: `settled_at IS NULL AND state = 'queued'`,
  running: `settled_at IS NULL AND state = 'running'`,
  settled: 'decision IS NOT NULL',
  canceled: 'settled_at IS NOT NULL AND decision IS NULL',
};

/** What can be looked up about issues, orders, the inbox and the executions. */
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
      return listRows(database, 'issues', page, 'newest', [equals('state', state)], readIssue);
    },

    listOrders: async ({ issueRef, state, open, ...page }) => {
      const isOpen = open === true || state === 'queued' || state === 'running';
      return listRows(
        database,
        'order_records',
        page,
        isOpen ? 'oldest' : 'newest',
        [
          equals('issue_ref', issueRef),
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
          equals('issue_ref', issueRef),
          open === undefined ? undefined : [open ? 'resolution IS NULL' : 'resolution IS NOT NULL'],
        ],
        readItem,
      ),

    listExecutions: async (filter) => listExecutions(database, filter),
  };
}
