import { isAbsolute } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import type { IssueState, OrderRecord } from '../../store/records/index.js';
import type { OrderView } from '../api/index.js';
import { readChange, readRace } from '../../orders/dispatch/index.js';
import { RequestError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers } from '../http/request-checks.js';
import { resolveAllowedFolder } from '../security/allowed-folder.js';
import type { ServerContext } from '../server-context.js';
import { readPage } from './query.js';
import { addHosts } from './run-view.js';

/** The maximum number of orders returned with an issue: the newest. `run_id` selects an older one. */
const MAX_ORDERS = 20;

type OrderEndpoint = 'submitOrder' | 'listIssues' | 'getIssue' | 'getIssueDiff' | 'getIssueRace';

/** Creates the handlers for orders and issues. */
export function createOrderHandlers(server: ServerContext): Pick<Handlers, OrderEndpoint> {
  const { store, lead, settings, data, logger, clock } = server;
  const { repos, filters } = lead;
  const maskText = (text: string): string => lead.maskText(text);

  /** Checks that a folder is allowed. The lead checks that the URL of a repository is in the configuration. */
  async function checkFolder<Body extends { readonly repo?: string; readonly repo_dir?: string }>(body: Body) {
    const folder = body.repo_dir ?? (isAbsolute(body.repo ?? '') ? body.repo : undefined);
    if (folder === undefined) return body;
    return { ...body, repo_dir: await resolveAllowedFolder(folder, { roots: settings.roots, data }) };
  }

  async function listNewestOrders(issueRef: string): Promise<readonly OrderRecord[]> {
    return (await store.listOrders({ issueRef, limit: MAX_ORDERS })).items;
  }

  async function findOrders(issueRef: string, runId: string): Promise<readonly OrderRecord[]> {
    const order = await store.findOrder(issueRef, runId);
    return order === undefined ? [] : [order];
  }

  return {
    async submitOrder({ body, caller, requestId, context }) {
      server.checkAcceptsWork();
      const { record, rivals } = await lead.submit(await checkFolder(body), {
        traceparent: readTraceparent(context),
        by: caller.name,
        // The request is recorded before the run can be claimed, so the run counts against the caller's budget.
        beforeQueued: async (run) => store.recordRequest({ ...run, caller: caller.name, now: clock() }),
      });
      const { issue_ref, run_id } = record.order;
      logger.info('order submitted', { issue_ref, run_id, caller: caller.name, request_id: requestId });
      return { ...toOrderView(record), ...(rivals.length === 0 ? {} : { rivals: rivals.map(toOrderView) }) };
    },
    async listIssues({ query }) {
      const state = query['state'] as IssueState | undefined;
      const { search } = query;
      return store.listIssues({ ...readPage(query), ...omitUndefined({ state, search }) });
    },
    async getIssue({ params, query }) {
      const issueRef = params.ref;
      const runId = query['run_id'];
      const issue = await store.findIssue(issueRef);
      if (issue === undefined) throw createIssueNotFoundError();
      const [orders, inbox] = await Promise.all([
        runId === undefined ? listNewestOrders(issueRef) : findOrders(issueRef, runId),
        store.listInbox({ issueRef, open: true, limit: MAX_ORDERS }),
      ]);
      return {
        issue,
        orders: (await addHosts(store, orders)).map(toOrderView),
        inbox: await addHosts(store, inbox.items),
        needs_attention: issue.state === 'needs-human',
      };
    },
    async getIssueDiff({ params, query }) {
      const issue = await store.findIssue(params.ref);
      const runId = query['run_id'] ?? issue?.active_run_id ?? issue?.active_group;
      const record = runId === undefined ? undefined : await store.findOrder(params.ref, runId);
      if (record === undefined) throw createIssueNotFoundError();
      return readChange({ data, maskText, repos, filters }, record);
    },
    async getIssueRace({ params }) {
      const race = await readRace({ store, data, maskText, repos, filters }, params.ref);
      if (race === undefined) throw createIssueNotFoundError();
      return race;
    },
  };
}

function createIssueNotFoundError(): RequestError {
  return new RequestError('ISSUE_NOT_FOUND', 'Issue not found. GET /v1/issues lists all issues.');
}

function toOrderView(record: OrderRecord & { readonly host?: string }): OrderView {
  const { issue_ref, run_id, worker } = record.order;
  return { issue_ref, run_id, worker, ...record };
}
