import type { Logger } from '../../base/index.js';
import type { Store } from '../../store/index.js';
import { createBroadcast } from './broadcast.js';
import type { Broadcast } from './broadcast.js';
import type { StreamProtocol } from './stream-protocol.js';
import type { Telling } from './telling.js';

/** How a run ended; the status is null if nobody knows any more. */
export interface RunEnd {
  readonly status: string | null;
}

/** What is sent at the moment: one broadcast for each run and protocol that someone follows. */
export interface Broadcasts {
  find(runId: string, protocol: StreamProtocol): Broadcast | undefined;
  /** Begins one that goes on with a telling, which is its own from now on. */
  open(runId: string, protocol: StreamProtocol, telling: Telling): Broadcast;
  /** How the run ended; undefined while it has not. */
  findEnd(runId: string): Promise<RunEnd | undefined>;
}

/** Begins with none. */
export function createBroadcasts(store: Pick<Store, 'watch' | 'findRun'>, logger: Logger): Broadcasts {
  const open = new Map<string, Broadcast>();

  async function findEnd(runId: string): Promise<RunEnd | undefined> {
    const run = await store.findRun(runId);
    // A run that was deleted does not go on.
    if (run === undefined) return { status: null };
    return run.state === 'ended' ? { status: run.result?.status ?? null } : undefined;
  }

  return {
    find: (runId, protocol) => open.get(`${protocol} ${runId}`),
    open(runId, protocol, telling) {
      const key = `${protocol} ${runId}`;
      const broadcast = createBroadcast({
        protocol,
        telling,
        watch: (wake) => store.watch(runId, wake),
        findEnd: async () => findEnd(runId),
        logger,
        onClose: () => open.delete(key),
      });
      open.set(key, broadcast);
      return broadcast;
    },
    findEnd,
  };
}
