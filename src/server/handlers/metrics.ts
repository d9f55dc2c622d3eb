import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Figures for Prometheus. */
export function createMetricHandlers(_context: ServerContext): Pick<Handlers, 'metrics'> {
  return {
    metrics: notBuilt,
  };
}
