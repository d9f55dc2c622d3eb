import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';

/** Figures for Prometheus. */
export function createMetricHandlers({ meter }: ServerContext): Pick<Handlers, 'metrics'> {
  return {
    metrics: async () =>
      new Response(await meter.render(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
  };
}
