import type { IssueState } from '../../records/index.js';
import { pageOf } from '../page-of.js';
import { present } from '../present.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import { allowedFolder } from '../security/allowed-folder.js';
import type { ServerContext } from '../server-context.js';
import { viewOrder } from '../views/order-view.js';

/** The newest of an issue's orders are shown with it; the audit has them all. */
const ORDERS_SHOWN = 20;

/** Orders and issues. */
export function createOrderHandlers(server: ServerContext): Pick<Handlers, 'submitOrder' | 'listIssues' | 'getIssue'> {
  const { store, lead, settings, data, logger } = server;
  return {
    async submitOrder({ body, caller, requestId }) {
      server.checkTakesWork();
      const repo_dir = await allowedFolder(body.repo_dir, { roots: settings.roots, data });
      const { record } = await lead.submit({ ...body, repo_dir });
      const { issue_ref, run_id } = record.order;
      logger.info('order submitted', { issue_ref, run_id, caller: caller.name, request_id: requestId });
      return viewOrder(record);
    },
    async listIssues({ query }) {
      const state = query['state'] as IssueState | undefined;
      const { search } = query;
      return store.listIssues({ ...pageOf(query), ...present({ state, search }) });
    },
    async getIssue({ params }) {
      const issueRef = params.ref;
      const issue = await store.findIssue(issueRef);
      if (issue === undefined) {
        throw new RequestError('ISSUE_NOT_FOUND', 'There is no such issue. GET /v1/issues lists them.');
      }
      const [orders, inbox] = await Promise.all([
        store.listOrders({ issueRef, limit: ORDERS_SHOWN }),
        store.listInbox({ issueRef, open: true, limit: ORDERS_SHOWN }),
      ]);
      return {
        issue,
        orders: orders.items.map(viewOrder),
        inbox: inbox.items,
        needs_attention: issue.state === 'needs-human',
      };
    },
  };
}
