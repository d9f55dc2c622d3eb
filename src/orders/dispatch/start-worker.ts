import { hostname } from 'node:os';
import { silentLogger, type Logger } from '../../base/index.js';
import { requestBudget } from './budgets.js';
import { claimRuns, FIRST_POLL_MS, type Duties, type DutyContext } from './claim-runs.js';
import { repeatWork } from './repeat-work.js';
import { retryLostPlaces, endOrphanedProcesses, NOTHING_DONE, reconcileFleet, reconcileHost } from './reconcile.js';
import type { ReconcileOptions, Reconciliation } from './reconcile.js';
import { createWaker } from './waker.js';
import { runByOneProcess } from './run-by-one-process.js';
import { DEFAULT_LEASE_MS, type Worker, type WorkerOptions } from './worker-options.js';

/** How long a stopping worker keeps starting deliveries; the rest is left to other workers. */
const LAST_DELIVERY_MS = 5000;

/**
 * Starts a worker: it claims runs from the store and executes them, with the orders they carry; it delivers comments and cleans
 * up after crashed workers. Any number of workers, in any number of processes, can share one store.
 *
 * @example
 * const worker = startWorker({ store, lead, concurrency: 2 })
 * process.once('SIGTERM', () => void worker.stop())
 */
export function startWorker(options: WorkerOptions): Worker {
  const { store, budgets, clock = () => store.now(), logger = silentLogger } = options;
  return claimRuns({
    ...options,
    lead: retryLostPlaces(options.lead, options),
    requestBudget: async (run, signal) => requestBudget({ store, budgets, clock, logger, signal }, run),
    startDuties: (worker) => startDuties(options, worker),
  });
}

/** Starts the delivery of comments, and the reaper. */
function startDuties(
  { store, lead, runs = {}, workerLostRetries, sessions }: WorkerOptions,
  worker: DutyContext,
): Duties {
  const { clock, logger, data, pollMs, signal, adopt } = worker;
  const waker = createWaker();

  /** Delivers the comments that are due, and wakes up again for the next retry. */
  async function deliver(): Promise<void> {
    const { retryAt } = await lead.deliver({ signal });
    if (retryAt !== undefined) waker.wakeAt(performance.now() + retryAt - clock());
  }
  const delivering = repeatWork({
    name: 'delivering',
    work: deliver,
    waker,
    sleepMs: 2 * pollMs,
    firstSleepMs: Math.min(FIRST_POLL_MS, pollMs),
    logger,
    signal,
  });
  const reaper = startReaper({
    store,
    lead,
    data,
    clock,
    logger,
    everyMs: worker.reconcileMs,
    isNotified: true,
    onRequeued: worker.wake,
    workerLostRetries,
    sessions,
    agents: runs.agents,
    containers: runs.sandbox?.container,
    adopt,
  });
  return {
    wake: waker.wake,
    onExpired: () => reaper.reconcileNow(),
    stop: async () => void (await Promise.all([delivering, reaper.stop()])),
    async finish() {
      await lead.deliver({ signal: AbortSignal.timeout(LAST_DELIVERY_MS) }).catch((error: unknown) => {
        logger.warn('last delivery failed', { error: String(error) });
      });
    },
  };
}

export interface ReaperOptions extends Omit<ReconcileOptions, 'clock' | 'data' | 'isAbandoned'> {
  readonly data: string;
  readonly clock?: () => number;
  /** The interval between reconciliations; the lease duration by default. */
  readonly everyMs?: number;
  readonly logger?: Logger;
  /** Called when claims were requeued. */
  readonly onRequeued?: () => void;
  /** Whether the caller invokes `reconcileNow` when leases of this host expire; otherwise the reaper polls the store. */
  readonly isNotified?: boolean;
}

/** The minimum lease of the job, even if the lease of a run is shorter. */
const MIN_INTERVAL_MS = 1000;

/**
 * Starts a reaper, which regularly cleans up after crashed workers. Every reaper kills orphaned processes and
 * reconciles runs on its own host; other hosts' runs and claims that never started are a job of one reaper at a time.
 * Every worker has a reaper; a server without a worker starts one too, so no run stays `running` when the last worker
 * is gone.
 */
export function startReaper(options: ReaperOptions) {
  const { store, everyMs = DEFAULT_LEASE_MS, logger = silentLogger, onRequeued, isNotified = false } = options;
  const { clock = () => store.now() } = options;
  const reconcileOptions = { ...options, clock };
  const waker = createWaker();
  const stopping = new AbortController();
  /** Whether the caller has reported expired leases of this host since the last round. */
  let isExpiryReported = false;
  let expired: ReadonlySet<string> = new Set();

  const log = (report: Reconciliation): void => {
    const { requeued, ended, adopted, processes } = report;
    if (requeued + ended + adopted + processes > 0) logger.info('reconciled', { ...report });
  };

  async function reconcileThisHost(): Promise<void> {
    const wasReported = isExpiryReported;
    isExpiryReported = false;
    // This comes first, because a run has ended only when its process is gone.
    const processes = await endOrphanedProcesses(reconcileOptions);
    const hasExpired = isNotified ? wasReported : await store.hasExpiredRuns(clock(), hostname());
    log({ ...(hasExpired ? await reconcileHost(reconcileOptions) : NOTHING_DONE), processes });
  }

  /**
   * Ends another host's claim only when it is found expired twice in a row: right after a store outage, its holder
   * needs time to renew it.
   */
  async function reconcileOtherHosts(): Promise<void> {
    const expiredNow = new Set<string>();
    const report = await reconcileFleet({
      ...reconcileOptions,
      isAbandoned({ id, owner }) {
        const claim = `${id} ${owner?.worker_id ?? ''}`;
        expiredNow.add(claim);
        return expired.has(claim);
      },
    });
    expired = expiredNow;
    log(report);
    if (report.requeued > 0) onRequeued?.();
  }

  const hostLoop = repeatWork({
    name: 'reconciling this host',
    work: reconcileThisHost,
    waker,
    sleepMs: everyMs,
    logger,
    signal: stopping.signal,
  });
  const fleetJob = runByOneProcess({
    store,
    logger,
    leaseMs: Math.max(MIN_INTERVAL_MS, everyMs),
    jobs: [{ name: 'reconciliation', everyMs, work: reconcileOtherHosts }],
  });
  return {
    /** Reconciles the runs of this host now, because some of their leases have expired. */
    reconcileNow(): void {
      isExpiryReported = true;
      waker.wake();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([hostLoop, fleetJob.stop()]);
    },
  };
}
