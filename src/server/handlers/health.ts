import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';

/** Creates the handlers for liveness and readiness. */
export function createHealthHandlers({ checkReady }: ServerContext): Pick<Handlers, 'health' | 'ready'> {
  return {
    health: async () => ({ status: 'ok' }),
    async ready() {
      await checkReady();
      return { status: 'ready' };
    },
  };
}

/** Creates the handler for Prometheus metrics. */
export function createMetricHandlers({ meter }: ServerContext): Pick<Handlers, 'metrics'> {
  return {
    metrics: async () =>
      new Response(await meter.render(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
  };
}
