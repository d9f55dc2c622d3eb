import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Cookies for pages. */
export function createSessionHandlers(_context: ServerContext): Pick<Handlers, 'openSession'> {
  return {
    openSession: notBuilt,
  };
}
