import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Runs: queued, listed, answered, ended. */
export function createRunHandlers(
  _context: ServerContext,
): Pick<Handlers, 'startRun' | 'listRuns' | 'getRun' | 'replyToRun' | 'cancelRun'> {
  return {
    startRun: notBuilt,
    listRuns: notBuilt,
    getRun: notBuilt,
    replyToRun: notBuilt,
    cancelRun: notBuilt,
  };
}
