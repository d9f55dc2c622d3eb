import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Orders and issues. */
export function createOrderHandlers(
  _context: ServerContext,
): Pick<Handlers, 'submitOrder' | 'listIssues' | 'getIssue'> {
  return {
    submitOrder: notBuilt,
    listIssues: notBuilt,
    getIssue: notBuilt,
  };
}
