import { isSluiceError, omitUndefined } from '../../base/index.js';
import { LeadError } from '../../orders/index.js';
import { markUnverified } from '../../store/records/index.js';
import type { ResolveRequest } from '../../orders/index.js';
import type { InboxItem } from '../../store/records/index.js';
import { StaleDecisionError, RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';
import { readPage } from './query.js';
import { addHosts } from './run-view.js';

type InboxHandlers = Pick<Handlers, 'listInbox' | 'getInboxItem' | 'previewResolution' | 'resolveItem'>;
type Resolution = Omit<ResolveRequest, 'id' | 'who'> & { readonly who?: string };

/** Settled items are listed newest first. */
const SETTLED = { open: false, order: 'newest' } as const;

/** Creates the inbox handlers: list, read, preview, resolve. */
export function createInboxHandlers(server: ServerContext): InboxHandlers {
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
    return new StaleDecisionError(error, (await store.findIssue(issue_ref))?.active_run_id ?? null);
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
  };
}
