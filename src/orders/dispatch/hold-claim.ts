import { hostname } from 'node:os';
import type { WorkContext } from './worker-options.js';

/**
 * How long the store may be unreachable before the claim counts as lost. Other processes can end the run sooner, once
 * its lease has expired; the store's next response shows that.
 */
const MAX_OUTAGE_MS = 10 * 60_000;

/** A claim that is kept alive while its run is executed. */
export interface HeldClaim {
  /**
   * Aborted when the run must stop: canceled, replaced, claimed by another worker, or the worker shuts down. Its reason
   * is a user-facing message.
   */
  readonly stop: AbortSignal;
  /** Sets the function that receives a user's reply; it rejects if the reply is unusable. */
  onReply(deliver: (text: string) => Promise<void>): void;
  /**
   * Renews now, unless that was done recently; returns whether the claim is still held. A process that was paused learns
   * here that it lost it.
   */
  confirm(maxAgeMs?: number): Promise<boolean>;
  /** Stops renewing. */
  end(): Promise<void>;
}

/**
 * Renews the lease of a run three times per lease and whenever a request for it arrives, and passes replies and cancellation to
 * the run. If the store is unavailable, it keeps trying for ten minutes or two leases, whichever is longer; then the claim counts
 * as lost.
 */
export function holdClaim(
  context: Pick<WorkContext, 'store' | 'clock' | 'logger' | 'leaseMs' | 'signal'>,
  { id, workerId }: { id: string; workerId: string },
): HeldClaim {
  const { store, clock, logger, leaseMs, signal } = context;
  const stopping = new AbortController();
  let deliver: ((text: string) => Promise<void>) | undefined;
  /** A reply that arrived before `onReply` was called, which can happen while a run is being resumed. */
  let earlyReply: string | undefined;
  let lastRenewed = performance.now();
  let renewal = Promise.resolve();
  let isDue = false;
  let isLost = false;

  const passReply = async (reply: string) => {
    if (deliver === undefined) return void (earlyReply = reply);
    try {
      await deliver(reply);
    } catch (error) {
      logger.warn('reply rejected, still waiting for another', { run_id: id, error: String(error) });
      await store.setWaiting({ id, workerId, now: clock() });
    }
  };
  const renew = async () => {
    isDue = false;
    try {
      const { held, cancel, reply } = await store.renewRun({ id, workerId, leaseMs, now: clock() });
      lastRenewed = performance.now();
      isLost = !held;
      if (cancel) stopping.abort('The run was canceled.');
      else if (!held) stopping.abort('The run was ended: its worker no longer holds the claim.');
      else if (reply !== null) await passReply(reply);
    } catch (error) {
      logger.warn('claim could not be renewed', { run_id: id, error: String(error) });
      if (performance.now() - lastRenewed > Math.max(MAX_OUTAGE_MS, 2 * leaseMs)) {
        stopping.abort('The run was ended: its worker could not reach the store to renew the claim.');
      }
    }
  };
  /** Renews one at a time; requests that arrive during a renewal cause one more renewal. */
  const renewSoon = () => {
    if (isDue) return;
    isDue = true;
    renewal = renewal.then(renew);
  };
  const intervalMs = Math.max(10, leaseMs / 3);
  let timer: NodeJS.Timeout | undefined;
  /** Renews at the same times as all claims of this process, because the store renews them in one statement. */
  const scheduleNext = () => {
    const now = performance.now();
    // A timer can fire a little early.
    const next = (Math.floor((now + 5) / intervalMs) + 1) * intervalMs;
    timer = setTimeout(() => {
      renewSoon();
      scheduleNext();
    }, next - now);
  };
  scheduleNext();
  const stopWatching = store.watchRequests(id, renewSoon);
  // Without `AbortSignal.any`: signals derived from the worker's signal would accumulate for as long as the worker
  // lives.
  const stop = () =>
    stopping.abort(
      `The run was ended: its worker on ${hostname()} was shut down before the run was done. Start it again.`,
    );
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return {
    stop: stopping.signal,
    onReply(receive) {
      deliver = receive;
      if (earlyReply === undefined) return;
      const reply = earlyReply;
      earlyReply = undefined;
      renewal = renewal
        .then(async () => passReply(reply))
        .catch((error: unknown) =>
          logger.warn('reply could not be passed to the run', { run_id: id, error: String(error) }),
        );
    },
    async confirm(maxAgeMs = 0) {
      if (performance.now() - lastRenewed < maxAgeMs) return !isLost;
      renewSoon();
      await renewal;
      return !isLost;
    },
    async end() {
      clearTimeout(timer);
      stopWatching();
      signal.removeEventListener('abort', stop);
      await renewal;
    },
  };
}

/*
 * Claims that this process is working on. Reconciliation checks them before it treats a run with an expired lease as
 * orphaned: a stalled process can be late to renew the lease of a run that it is still executing.
 */
const inProgress = new Set<string>();

/** Marks a claim as being worked on while `work` runs. */
export async function whileInProgress<T>(workerId: string, work: () => Promise<T>): Promise<T> {
  inProgress.add(workerId);
  try {
    return await work();
  } finally {
    inProgress.delete(workerId);
  }
}

export function isInProgress(workerId: string): boolean {
  return inProgress.has(workerId);
}
