import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** The events of a run: live, and as history. */
export function createRunEventHandlers(
  _context: ServerContext,
): Pick<Handlers, 'followRun' | 'followRunByPost' | 'readHistory'> {
  return {
    followRun: notBuilt,
    followRunByPost: notBuilt,
    readHistory: notBuilt,
  };
}
