import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { createWaitingList } from '../waiting/waiting-list.js';

/** Creates the handlers for the list of everything waiting for a human. */
export function createWaitingHandlers({ store }: ServerContext): Pick<Handlers, 'listWaiting'> {
  const list = createWaitingList(store);
  return { listWaiting: async () => list.read() };
}
