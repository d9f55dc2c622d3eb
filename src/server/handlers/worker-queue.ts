import { randomUUID } from 'node:crypto';
import { getErrorMessage, omitUndefined, type Logger } from '../../base/index.js';
import type { QueueNotifications } from '../../store/index.js';
import type { ClaimedRun } from '../../store/ports/index.js';
import type { Labels } from '../../store/records/index.js';

/** The runs that a worker takes. */
export interface Wanted {
  readonly kinds?: readonly ('orders' | 'runs')[] | undefined;
  readonly workerTypes?: readonly string[] | undefined;
  readonly labels?: Labels | undefined;
}

/** The claims of workers that are connected to this server. */
export interface ClaimQueue<Claim> {
  /** Adds a worker's stream, through which it gets a run if its last claim found none. Returns the function that removes it. */
  connect(worker: string, wanted: Wanted, assign: (claimed: ClaimedRun) => boolean): () => void;
  /** Claims a run. Without one, the claim waits if the worker has a stream here. */
  claim(
    worker: string | undefined,
    claim: Claim,
  ): Promise<{ readonly claimed?: ClaimedRun; readonly isWaiting: boolean }>;
}

interface ClaimQueueOptions<Claim> {
  readonly store: QueueNotifications;
  /** `watcher` is the name of the workers that take the same runs; `isLast` means that none of them waits any more. */
  readonly claimNext: (
    claim: Claim,
    watch: { readonly watcher?: string | undefined; readonly isLast: boolean },
  ) => Promise<ClaimedRun | undefined>;
  /** Puts a claimed run back into the queue, because its worker is gone. */
  readonly release: (claimed: ClaimedRun) => Promise<unknown>;
  readonly logger: Logger;
}

/** The workers that take the same runs. */
interface Group<Claim> {
  readonly name: string;
  /** Claims that found nothing, the oldest first. */
  readonly waiting: Map<string, Claim>;
  members: number;
  /** Counts wake-ups, so a claim notices one that came while it looked for a run. */
  wakes: number;
  isAssigning: boolean;
  readonly stop: () => void;
}

/**
 * Lets workers wait for runs. The server claims for a waiting worker as soon as it is woken, which saves a round trip, and
 * a new run costs one claim instead of one for each connected worker.
 */
export function createClaimQueue<Claim>(options: ClaimQueueOptions<Claim>): ClaimQueue<Claim> {
  const { store, claimNext, release, logger } = options;
  const groups = new Map<string, Group<Claim>>();
  const streams = new Map<
    string,
    { readonly group: Group<Claim>; readonly assign: (claimed: ClaimedRun) => boolean }
  >();

  function openGroup(wanted: Wanted): Group<Claim> {
    const name = randomUUID();
    const wake = (): void => {
      group.wakes += 1;
      if (!group.isAssigning) void assignRuns(group);
    };
    const stop = store.watchQueue((work) => void (work !== 'messages' && wake()), {
      worker: name,
      ...readWanted(wanted),
    });
    const group: Group<Claim> = { name, waiting: new Map(), members: 0, wakes: 0, isAssigning: false, stop };
    return group;
  }

  async function take(group: Group<Claim> | undefined, claim: Claim): Promise<ClaimedRun | undefined> {
    return claimNext(claim, { watcher: group?.name, isLast: group === undefined || group.waiting.size === 0 });
  }

  /** Claims runs for waiting workers until there are none of either. */
  async function assignRuns(group: Group<Claim>): Promise<void> {
    group.isAssigning = true;
    for (let seen = -1; seen !== group.wakes && group.waiting.size > 0;) {
      seen = group.wakes;
      for (const [worker, claim] of group.waiting) {
        group.waiting.delete(worker);
        if (await assignOne(group, worker, claim)) continue;
        // Unless it has disconnected or claims by itself meanwhile.
        if (streams.get(worker)?.group === group && !group.waiting.has(worker)) group.waiting.set(worker, claim);
        break;
      }
    }
    group.isAssigning = false;
  }

  /** Returns false if there is no run. */
  async function assignOne(group: Group<Claim>, worker: string, claim: Claim): Promise<boolean> {
    try {
      const claimed = await take(group, claim);
      if (claimed === undefined) return false;
      if (streams.get(worker)?.assign(claimed) !== true) await release(claimed);
      return true;
    } catch (error) {
      // The store is unavailable; workers also look for runs themselves from time to time.
      logger.warn('cannot claim a run for a waiting worker', { error: getErrorMessage(error) });
      return false;
    }
  }

  return {
    connect(worker, wanted, assign) {
      const key = JSON.stringify(readWanted(wanted));
      const group = groups.get(key) ?? openGroup(wanted);
      groups.set(key, group);
      group.members += 1;
      const stream = { group, assign };
      streams.set(worker, stream);
      return () => {
        if (streams.get(worker) === stream) {
          streams.delete(worker);
          group.waiting.delete(worker);
        }
        group.members -= 1;
        if (group.members > 0) return;
        groups.delete(key);
        group.stop();
      };
    },
    async claim(worker, claim) {
      const { group } = streams.get(worker ?? '') ?? {};
      if (worker !== undefined) group?.waiting.delete(worker);
      const wakes = group?.wakes;
      const claimed = await take(group, claim);
      if (claimed !== undefined) return { claimed, isWaiting: false };
      if (worker === undefined || group === undefined || streams.get(worker)?.group !== group)
        return { isWaiting: false };
      group.waiting.set(worker, claim);
      if (group.wakes !== wakes && !group.isAssigning) void assignRuns(group);
      return { isWaiting: true };
    },
  };
}

function readWanted({ kinds, workerTypes, labels }: Wanted) {
  return omitUndefined({ kinds, workerTypes, labels });
}
