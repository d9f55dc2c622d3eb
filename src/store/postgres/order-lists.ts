import type { OrderStore } from '../../orders/index.js';
import { readIssueSearch } from '../issue-search.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';
import { listExecutions } from './list-executions.js';
import { listRows } from './list-rows.js';
import { readIssue, readItem, readOrder } from './order-rows.js';
import { searchIssues } from './search-issues.js';

type OrderLists = Pick<
  OrderStore,
  'findIssue' | 'findOrder' | 'listIssues' | 'listOrders' | 'findItem' | 'listInbox' | 'listExecutions'
>;

/** What can be looked up about issues, orders, the inbox and the audit. */
export function createOrderLists({ database }: Context, searchWindow: number): OrderLists {
  async function findOne<T>(sql: string, values: readonly string[], read: (row: Row) => T): Promise<T | undefined> {
    const { rows } = await database.query(sql, values);
    return rows[0] === undefined ? undefined : read(rows[0]);
  }

  return {
    findIssue: (issueRef) => findOne(`SELECT * FROM sluice.issues WHERE issue_ref = $1`, [issueRef], readIssue),

    findOrder: (issueRef, runId) =>
      findOne(`SELECT * FROM sluice.orders WHERE issue_ref = $1 AND run_id = $2`, [issueRef, runId], readOrder),

    async listIssues(filter) {
      const search = readIssueSearch(filter);
      if (search !== undefined) return searchIssues(database, search, searchWindow);
      const { state, ...page } = filter;
      const conditions = [['state = ?', state]] as const;
      return listRows(database, page, { table: 'issues', order: 'newest', conditions, read: readIssue });
    },

    listOrders({ issueRef, state, open, ...page }) {
      const isOpen = open === true || state === 'queued' || state === 'claimed' || state === 'running';
      return listRows(database, page, {
        table: 'orders',
        order: isOpen ? 'oldest' : 'newest',
        fixed: isOpen ? [`state IN ('queued', 'claimed', 'running')`] : [],
        conditions: [
          ['issue_ref = ?', issueRef],
          ['state = ?', state],
        ],
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
