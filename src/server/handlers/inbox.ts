import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** What waits for a person. */
export function createInboxHandlers(
  _context: ServerContext,
): Pick<Handlers, 'listInbox' | 'getInboxItem' | 'previewResolution' | 'resolveItem'> {
  return {
    listInbox: notBuilt,
    getInboxItem: notBuilt,
    previewResolution: notBuilt,
    resolveItem: notBuilt,
  };
}
