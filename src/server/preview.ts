import { createLead } from '../orders/index.js';
import type { ItemResolution, ResolveOutcome, ResolveRequest, Sink } from '../orders/index.js';
import type { ServerContext } from './server-context.js';

/** The comment that a person's answer would write. */
export interface ResolutionPreview {
  readonly action: string;
  readonly comment: string;
}

/** Takes every comment and sends none. */
const SHEET: Sink = {
  name: 'preview',
  timeoutMs: 1000,
  accepts: () => true,
  send: async () => {
    throw new TypeError('A preview is not sent.');
  },
};

/**
 * Shows what an answer would write, without writing anything: the lead does what it always does, over a store that keeps
 * what it is given to itself. What would be refused is refused here too.
 */
export function createPreview({
  store,
  data,
  wrappers,
  clock,
}: ServerContext): (request: ResolveRequest) => Promise<ResolutionPreview> {
  return async (request) => {
    let comment = '';
    const resolveItem = async ({ id, outbox }: ItemResolution): Promise<ResolveOutcome> => {
      comment = outbox[0]?.body ?? '';
      return foresee(store, id);
    };
    const lead = createLead({ store: { ...store, resolveItem }, sinks: [SHEET], data, wrappers, clock });
    await lead.resolve(request);
    return { action: request.action, comment };
  };
}

/** What the store would say if it were asked now. */
async function foresee(store: ServerContext['store'], id: string): Promise<ResolveOutcome> {
  const item = await store.findItem(id);
  if (item === undefined) return { status: 'not_found' };
  const { active_run_id: activeRunId = null } = (await store.findIssue(item.issue_ref)) ?? {};
  const { resolution } = item;
  if (resolution !== null || activeRunId !== item.run_id) return { status: 'conflict', activeRunId, resolution };
  return { status: 'resolved', item };
}
