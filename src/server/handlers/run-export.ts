import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** The folder of a run, to take away. */
export function createRunExportHandlers(_context: ServerContext): Pick<Handlers, 'exportRun'> {
  return {
    exportRun: notBuilt,
  };
}
