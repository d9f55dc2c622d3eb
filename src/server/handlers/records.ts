import type { Decision } from '../../orders/decision.js';
import type { OutboxMessage } from '../../orders/ports/outbox-message.js';
import { pageOf } from '../page-of.js';
import { present } from '../present.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { viewMessage } from '../views/order-views.js';

/** What was sent and what was done. */
export function createRecordHandlers({ store }: ServerContext): Pick<Handlers, 'listOutbox' | 'listExecutions'> {
  return {
    async listOutbox({ query }) {
      const { issue_ref: issueRef } = query;
      const state = query['state'] as OutboxMessage['state'] | undefined;
      const { items, next_cursor } = await store.listOutbox({ ...pageOf(query), ...present({ issueRef, state }) });
      return { items: items.map(viewMessage), next_cursor };
    },
    async listExecutions({ query }) {
      const { issue_ref: issueRef, run_id: runId, worker, since, until } = query;
      const decision = query['decision'] as Decision['action'] | undefined;
      const filter = present({ issueRef, runId, worker, decision, since, until });
      return store.listExecutions({ ...pageOf(query), ...filter });
    },
  };
}
