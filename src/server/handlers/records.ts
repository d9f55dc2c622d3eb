import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** What was sent and what was done. */
export function createRecordHandlers(_context: ServerContext): Pick<Handlers, 'listOutbox' | 'listExecutions'> {
  return {
    listOutbox: notBuilt,
    listExecutions: notBuilt,
  };
}
