import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** The captured bytes of a run. */
export function createRunRawHandlers(_context: ServerContext): Pick<Handlers, 'readRaw'> {
  return {
    readRaw: notBuilt,
  };
}
