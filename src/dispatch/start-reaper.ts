import { hostname } from 'node:os';
import { silentLogger } from '../base/index.js';
import type { Logger } from '../base/index.js';
import { endOrphanedProcesses, NOTHING_DONE, reconcileFleet, reconcileHost } from './reconcile.js';
import type { ReconcileOptions, Reconciliation } from './reconcile.js';
import { repeatWork } from './repeat-work.js';
import { runByOneProcess } from './run-by-one-process.js';
import { createWaker } from './waker.js';
import { DEFAULT_LEASE_MS } from './worker-options.js';

/** Options for a reaper. */
export interface ReaperOptions extends Omit<ReconcileOptions, 'clock' | 'data' | 'isAbandoned'> {
  readonly data: string;
  readonly clock?: () => number;
  /** How often it looks; every lease by default. */
  readonly everyMs?: number;
  readonly logger?: Logger;
  /** Called when claims were queued again. */
  readonly onRequeued?: () => void;
  /** Whether the caller invokes `reconcileNow` when leases of this host expire; otherwise the reaper polls the store. */
  readonly isCalled?: boolean;
}

/** Reconciles until it is stopped. */
export interface Reaper {
  /** Looks at the runs of this host now: some of their leases have expired. */
  reconcileNow(): void;
  stop(): Promise<void>;
}

/** A duty moves to another process no faster than that, however short a lease is. */
const MIN_DUTY_MS = 1000;

/**
 * Reconciles what crashed workers left, every so often. Processes and runs of this host are looked at by every process of the
 * host; runs of other hosts and claims that never started are a duty of one process at a time. Every worker has a reaper; a
 * server without a worker starts one too, so that no run stays `running` when the last worker is gone.
 *
 * @example
 * const reaper = startReaper({ store, lead, data })
 * await reaper.stop()
 */
export function startReaper(options: ReaperOptions): Reaper {
  const { store, everyMs = DEFAULT_LEASE_MS, logger = silentLogger, onRequeued, isCalled = false } = options;
  const { clock = () => store.now() } = options;
  const given = { ...options, clock };
  const waker = createWaker();
  const stopping = new AbortController();
  let isExpectedHere = false;
  let expired: ReadonlySet<string> = new Set();

  const log = (report: Reconciliation): void => {
    const { requeued, ended, adopted, processes } = report;
    if (requeued + ended + adopted + processes > 0) logger.info('reconciled', { ...report });
  };

  async function reconcileNow(): Promise<void> {
    const isExpected = isExpectedHere;
    isExpectedHere = false;
    // First: a run has ended only when its process is gone.
    const processes = await endOrphanedProcesses(given);
    const hasExpired = isCalled ? isExpected : await store.hasExpiredRuns(clock(), hostname());
    log({ ...(hasExpired ? await reconcileHost(given) : NOTHING_DONE), processes });
  }

  /**
   * A claim of another machine is ended when two looks in a row find it expired: just after an outage of the store its holder
   * needs a moment to renew it.
   */
  async function reconcileElsewhere(): Promise<void> {
    const seen = new Set<string>();
    const report = await reconcileFleet({
      ...given,
      isAbandoned({ id, owner }) {
        const claim = `${id} ${owner?.worker_id ?? ''}`;
        seen.add(claim);
        return expired.has(claim);
      },
    });
    expired = seen;
    log(report);
    if (report.requeued > 0) onRequeued?.();
  }

  const here = repeatWork({
    name: 'reconciling this machine',
    work: reconcileNow,
    waker,
    sleepMs: everyMs,
    logger,
    signal: stopping.signal,
  });
  const elsewhere = runByOneProcess({
    store,
    logger,
    leaseMs: Math.max(MIN_DUTY_MS, everyMs),
    duties: [{ name: 'reconciliation', everyMs, work: reconcileElsewhere }],
  });
  return {
    reconcileNow() {
      isExpectedHere = true;
      waker.wake();
    },
    async stop() {
      stopping.abort();
      waker.wake();
      await Promise.all([here, elsewhere.stop()]);
    },
  };
}
