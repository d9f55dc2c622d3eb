import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Whether the server lives and works. */
export function createHealthHandlers(_context: ServerContext): Pick<Handlers, 'health' | 'ready'> {
  return {
    health: notBuilt,
    ready: notBuilt,
  };
}
