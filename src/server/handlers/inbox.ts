import { isSluiceError } from '../../base/index.js';
import { LeadError } from '../../orders/index.js';
import type { ResolveRequest } from '../../orders/index.js';
import type { InboxItem } from '../../records/index.js';
import { LateDecision } from '../late-decision.js';
import { pageOf } from '../page-of.js';
import { present } from '../present.js';
import { createPreview } from '../preview.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';

type InboxHandlers = Pick<Handlers, 'listInbox' | 'getInboxItem' | 'previewResolution' | 'resolveItem'>;
type Answer = Omit<ResolveRequest, 'id' | 'who'> & { readonly who?: string };

/** What a person looks for there is what was decided last. */
const SETTLED = { open: false, order: 'newest' } as const;

/** What waits for a person. */
export function createInboxHandlers(server: ServerContext): InboxHandlers {
  const { store, lead, settings, logger } = server;
  const preview = createPreview(server);

  async function findItem(id: string): Promise<InboxItem> {
    const item = await store.findItem(id);
    if (item !== undefined) return item;
    throw new LeadError('ITEM_UNKNOWN', 'There is no such inbox item. GET /v1/inbox lists them.');
  }

  /** With tokens the name of the token is who decides; without, whoever is at the machine may say. */
  function requestOf(id: string, { who, ...answer }: Answer, caller: Caller): ResolveRequest {
    if (settings.tokens.length > 0 && who !== undefined && who !== caller.name) {
      throw new RequestError('INVALID_BODY', `who is the name of your token, ${caller.name}: leave it out.`);
    }
    return { ...answer, id, who: who ?? caller.name };
  }

  /** A conflict says which run counts now, so that a page can lead there. */
  async function explain(error: unknown, id: string): Promise<unknown> {
    if (!isSluiceError(error) || error.code !== 'CONFLICT') return error;
    const { issue_ref } = await findItem(id);
    return new LateDecision(error, (await store.findIssue(issue_ref))?.active_run_id ?? null);
  }

  return {
    async listInbox({ query }) {
      const { issue_ref: issueRef, open, settled } = query;
      const which = settled === 'true' ? SETTLED : open === 'false' ? {} : { open: true };
      return store.listInbox({ ...pageOf(query), ...which, ...present({ issueRef }) });
    },
    getInboxItem: async ({ params }) => findItem(params.id),
    async previewResolution({ params, body, caller }) {
      try {
        return await preview(requestOf(params.id, body, caller));
      } catch (error) {
        throw await explain(error, params.id);
      }
    },
    async resolveItem({ params, body, caller, requestId }) {
      const request = requestOf(params.id, body, caller);
      try {
        const { item } = await lead.resolve(request);
        const { action, who } = request;
        logger.info('item resolved', { item_id: item.id, action, who, request_id: requestId });
        return item;
      } catch (error) {
        throw await explain(error, params.id);
      }
    },
  };
}
