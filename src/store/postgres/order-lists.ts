import type { OrderStore } from '../../orders/index.js';
import type { OrderState } from '../../records/index.js';
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

/** Each state of an order by what the table itself says, so that an index serves it; of the open ones the run tells which. */
const ORDER_STATES: Readonly<Record<OrderState, string>> = {
  queued: `state = 'queued'`,
  running: `state = 'running'`,
  settled: 'decision IS NOT NULL',
  canceled: 'settled_at IS NOT NULL AND decision IS NULL',
};

/** What can be looked up about issues, orders, the inbox and the executions. */
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
