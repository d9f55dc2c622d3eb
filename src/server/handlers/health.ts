import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';

/** Whether the server lives and works. */
export function createHealthHandlers({ checkReady }: ServerContext): Pick<Handlers, 'health' | 'ready'> {
  return {
    health: async () => ({ status: 'ok' }),
    async ready() {
      await checkReady();
      return { status: 'ready' };
    },
  };
}
