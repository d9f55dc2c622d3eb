import { isAbsolute } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import type { IssueState, OrderRecord } from '../../records/index.js';
import type { OrderView } from '../../api/index.js';
import { readChange, readRace } from '../../dispatch/index.js';
import { RequestError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers } from '../http/request-checks.js';
import { resolveAllowedFolder } from '../security/allowed-folder.js';
import type { ServerContext } from '../server-context.js';
import { readPage } from './query.js';
import { withHosts } from './with-hosts.js';

/** An issue is shown with its newest orders; the list of executions has all. */
const ORDERS_SHOWN = 20;

type OrderEndpoint = 'submitOrder' | 'listIssues' | 'getIssue' | 'getIssueDiff' | 'getIssueRace';

/** Orders and issues. */
export function createOrderHandlers(server: ServerContext): Pick<Handlers, OrderEndpoint> {
  const { store, lead, settings, data, logger, clock } = server;
  const { repos, filters } = lead;
  const maskText = (text: string): string => lead.maskText(text);

  /** A folder must be allowed; a repository with a URL must be in the configuration, which the lead checks. */
  async function checkFolder<Body extends { readonly repo?: string; readonly repo_dir?: string }>(body: Body) {
    const folder = body.repo_dir ?? (isAbsolute(body.repo ?? '') ? body.repo : undefined);
    if (folder === undefined) return body;
    return { ...body, repo_dir: await resolveAllowedFolder(folder, { roots: settings.roots, data }) };
  }

  return {
    async submitOrder({ body, caller, requestId, context }) {
      server.checkTakesWork();
      const { record, rivals } = await lead.submit(await checkFolder(body), {
        traceparent: readTraceparent(context),
        // Before it can be claimed, so that it counts for the caller's budget.
        beforeQueued: async (run) => store.noteRequest({ ...run, caller: caller.name, now: clock() }),
      });
      const { issue_ref, run_id } = record.order;
      logger.info('order submitted', { issue_ref, run_id, caller: caller.name, request_id: requestId });
      return { ...viewOrder(record), ...(rivals.length === 0 ? {} : { rivals: rivals.map(viewOrder) }) };
    },
    async listIssues({ query }) {
      const state = query['state'] as IssueState | undefined;
      const { search } = query;
      return store.listIssues({ ...readPage(query), ...omitUndefined({ state, search }) });
    },
    async getIssue({ params }) {
      const issueRef = params.ref;
      const issue = await store.findIssue(issueRef);
      if (issue === undefined) throw issueNotFound();
      const [orders, inbox] = await Promise.all([
        store.listOrders({ issueRef, limit: ORDERS_SHOWN }),
        store.listInbox({ issueRef, open: true, limit: ORDERS_SHOWN }),
      ]);
      return {
        issue,
        orders: (await withHosts(store, orders.items)).map(viewOrder),
        inbox: await withHosts(store, inbox.items),
        needs_attention: issue.state === 'needs-human',
      };
    },
    async getIssueDiff({ params, query }) {
      const issue = await store.findIssue(params.ref);
      const runId = query['run_id'] ?? issue?.active_run_id ?? issue?.active_group;
      const record = runId === undefined ? undefined : await store.findOrder(params.ref, runId);
      if (record === undefined) throw issueNotFound();
      return readChange({ data, maskText, repos, filters }, record);
    },
    async getIssueRace({ params }) {
      const race = await readRace({ store, data, maskText, repos, filters }, params.ref);
      if (race === undefined) throw issueNotFound();
      return race;
    },
  };
}

function issueNotFound(): RequestError {
  return new RequestError('ISSUE_NOT_FOUND', 'Issue not found. GET /v1/issues lists all issues.');
}

function viewOrder(record: OrderRecord & { readonly host?: string }): OrderView {
  const { issue_ref, run_id, worker } = record.order;
  return { issue_ref, run_id, worker, ...record };
}
