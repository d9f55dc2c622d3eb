import { isAbsolute } from 'node:path';
import { omitUndefined, isSluiceError } from '../../base/index.js';
import { markUnverified, type IssueState, type OrderRecord, type InboxItem } from '../../store/records/index.js';
import type { OrderView } from '../api/index.js';
import { readChange, readRace } from '../../orders/dispatch/index.js';
import { RequestError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers } from '../http/request-checks.js';
import { resolveAllowedFolder } from '../security/allowed-requests.js';
import type { ServerContext } from '../server-context.js';
import { readPage } from './query.js';
import { addHosts } from './run-view.js';
import { LeadError, type ResolveRequest } from '../../orders/index.js';
import type { Caller } from '../security/tokens.js';

/** The maximum number of orders returned with an issue: the newest. `run_id` selects an older one. */
const MAX_ORDERS = 20;

export function createOrderHandlers(server: ServerContext) {
  const { store, lead, settings, data, logger, clock } = server;
  const { repos, filters } = lead;
  const maskText = (text: string): string => lead.maskText(text);

  /** Checks that a folder is allowed. The lead checks that the URL of a repository is in the configuration. */
  async function checkFolder<Body extends { readonly repo?: string; readonly repo_dir?: string }>(body: Body) {
    const folder = body.repo_dir ?? (isAbsolute(body.repo ?? '') ? body.repo : undefined);
    if (folder === undefined) return body;
    return { ...body, repo_dir: await resolveAllowedFolder(folder, { roots: settings.roots, data }) };
  }

  async function listOrders(issueRef: string, runId: string | undefined): Promise<readonly OrderRecord[]> {
    if (runId === undefined) return (await store.listOrders({ issueRef, limit: MAX_ORDERS })).items;
    const order = await store.findOrder(issueRef, runId);
    return order === undefined ? [] : [order];
  }

  return {
    async submitOrder({ body, caller, requestId, context }) {
      server.checkAcceptsWork();
      checkRequestId(body.request_id);
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
      const issue = await store.findIssue(issueRef);
      if (issue === undefined) throw createIssueNotFoundError();
      const [orders, inbox] = await Promise.all([
        listOrders(issueRef, query['run_id']),
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
  } satisfies Partial<Handlers>;
}

/** Refuses the ids of schedules and triggers: an order with the id of a future tick would suppress that tick. */
function checkRequestId(requestId: string | undefined): void {
  if (requestId === undefined || !/^(?:schedule|trigger):/.test(requestId)) return;
  const message = 'ids that start with "schedule:" or "trigger:" are reserved; use another one';
  throw new RequestError('INVALID_BODY', `Invalid body: request_id: ${message}.`, {
    issues: [{ path: 'request_id', message }],
  });
}

function createIssueNotFoundError(): RequestError {
  return new RequestError('ISSUE_NOT_FOUND', 'Issue not found. GET /v1/issues lists all issues.');
}

function toOrderView(record: OrderRecord & { readonly host?: string }): OrderView {
  const { issue_ref, run_id, worker } = record.order;
  return { issue_ref, run_id, worker, ...record };
}

type Resolution = Omit<ResolveRequest, 'id' | 'who'> & { readonly who?: string };

const SETTLED = { open: false, order: 'newest' } as const;

export function createInboxHandlers(server: ServerContext) {
  const { store, lead, guard, logger } = server;

  async function findItem(id: string): Promise<InboxItem> {
    const item = await store.findItem(id);
    if (item !== undefined) return item;
    throw new LeadError('ITEM_NOT_FOUND', 'Inbox item not found. GET /v1/inbox?open=false lists all items.');
  }

  /**
   * Adds the author of the decision. With tokens, it is the name of the token; without tokens, the request may name any
   * author, which is recorded as unverified.
   */
  function readResolveRequest(id: string, { who, ...resolution }: Resolution, caller: Caller): ResolveRequest {
    if (guard.hasConfiguredTokens() && who !== undefined && who !== caller.name) {
      throw new RequestError(
        'INVALID_BODY',
        `"who" must be the name of your token, "${caller.name}". Use that name, or omit "who".`,
      );
    }
    return { ...resolution, id, who: who === undefined || who === caller.name ? caller.name : markUnverified(who) };
  }

  /** Adds the active run to a conflict, so the console can link to it. */
  async function addActiveRun(error: unknown, id: string): Promise<unknown> {
    if (!isSluiceError(error) || error.code !== 'CONFLICT') return error;
    const { issue_ref } = await findItem(id);
    const { active_run_id = null } = (await store.findIssue(issue_ref)) ?? {};
    return new RequestError('CONFLICT', error.message, { cause: error, active_run_id });
  }

  return {
    async listInbox({ query }) {
      const { issue_ref: issueRef, open, settled } = query;
      const filter = settled === 'true' ? SETTLED : open === 'false' ? {} : { open: true };
      const page = await store.listInbox({ ...readPage(query), ...filter, ...omitUndefined({ issueRef }) });
      return { ...page, items: await addHosts(store, page.items) };
    },
    async getInboxItem({ params }) {
      const item = await findItem(params.id);
      const [found] = await addHosts(store, [item]);
      return found ?? item;
    },
    async previewResolution({ params, body, caller }) {
      try {
        const comment = await lead.preview(readResolveRequest(params.id, body, caller));
        return { action: body.action, comment };
      } catch (error) {
        throw await addActiveRun(error, params.id);
      }
    },
    async resolveItem({ params, body, caller, requestId }) {
      const request = readResolveRequest(params.id, body, caller);
      try {
        const { item } = await lead.resolve(request);
        const { action, who } = request;
        logger.info('item resolved', { item_id: item.id, action, who, request_id: requestId });
        return item;
      } catch (error) {
        throw await addActiveRun(error, params.id);
      }
    },
  } satisfies Partial<Handlers>;
}
