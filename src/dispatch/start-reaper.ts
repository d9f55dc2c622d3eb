import { silentLogger } from '../base/index.js';
import type { Logger } from '../base/index.js';
import { reconcile } from './reconcile.js';
import type { ReconcileOptions } from './reconcile.js';
import { repeatWork } from './repeat-work.js';
import { createWaker } from './waker.js';
import { DEFAULT_LEASE_MS } from './worker-options.js';

/** What a reaper needs. */
export interface ReaperOptions extends Omit<ReconcileOptions, 'clock' | 'data'> {
  readonly data: string;
  readonly clock?: () => number;
  /** How often it looks; every lease by default. */
  readonly everyMs?: number;
  readonly logger?: Logger;
  /** Called when claims were queued again. */
  readonly onRequeued?: () => void;
}

/**
 * Reconciles what crashed workers left, every so often. A claim of another machine is ended when two looks in a row find it
 * expired: just after an outage of the store its holder needs a moment to renew it. Every worker has one; a server without a worker starts one too, so
 * that no run stays `running` when the last worker is gone.
 *
 * @example
 * const reaper = startReaper({ store, lead, data })
 * await reaper.stop()
 */
export function startReaper(options: ReaperOptions): { stop(): Promise<void> } {
  const { store, lead, data, everyMs = DEFAULT_LEASE_MS, logger = silentLogger, onRequeued } = options;
  const { workerLostRetries = 0, agents, adopt } = options;
  const { clock = () => store.now() } = options;
  const waker = createWaker();
  const stopping = new AbortController();
  let expired = new Set<string>();
  const work = async () => {
    const seen = new Set<string>();
    const report = await reconcile({
      store,
      lead,
      data,
      clock,
      workerLostRetries,
      ...(agents === undefined ? {} : { agents }),
      ...(adopt === undefined ? {} : { adopt }),
      isAbandoned({ id, owner }) {
        const claim = `${id} ${owner?.worker_id ?? ''}`;
        seen.add(claim);
        return expired.has(claim);
      },
    });
    expired = seen;
    const { requeued, ended, adopted, processes } = report;
    if (requeued + ended + adopted + processes > 0) logger.info('reconciled', { ...report });
    if (requeued > 0) onRequeued?.();
  };
  const ended = repeatWork({ name: 'reconciling', work, waker, sleepMs: everyMs, logger, signal: stopping.signal });
  return {
    async stop() {
      stopping.abort();
      waker.wake();
      await ended;
    },
  };
}
