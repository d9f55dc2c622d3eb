import { silentLogger } from '../../base/index.js';
import { requestBudget } from './budgets.js';
import { claimRuns, FIRST_POLL_MS, type Duties, type DutyContext } from './claim-runs.js';
import { repeatWork } from './repeat-work.js';
import { retryLostPlaces } from './reconcile.js';
import { startReaper } from './start-reaper.js';
import { createWaker } from './waker.js';
import type { Worker, WorkerOptions } from './worker-options.js';

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
    ...(runs.agents === undefined ? {} : { agents: runs.agents }),
    containers: runs.sandbox?.container,
    adopt,
  });
  return {
    wake: waker.wake,
    onExpired: () => reaper.reconcileNow(),
    async stop() {
      waker.wake();
      await Promise.all([delivering, reaper.stop()]);
    },
    async finish() {
      await lead.deliver({ signal: AbortSignal.timeout(LAST_DELIVERY_MS) }).catch((error: unknown) => {
        logger.warn('last delivery failed', { error: String(error) });
      });
    },
  };
}
