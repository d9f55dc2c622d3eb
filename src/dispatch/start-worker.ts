import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { identifyWorker, whileInProgress } from '../orders/index.js';
import { createUlids, silentLogger } from '../base/index.js';
import { doOrder } from './do-order.js';
import { doRun } from './do-run.js';
import { endLostRuns } from './end-lost-runs.js';
import { createWaker } from './waker.js';
import type { WorkContext } from './work-context.js';
import { DEFAULT_LEASE_MS } from './worker-options.js';
import type { Worker, WorkerOptions } from './worker-options.js';

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_POLL_MS = 1000;
/** However often it is woken, it looks no more often than this. */
const LEAST_PAUSE_MS = 5;
const FAILURE_PAUSE_MS = 200;
/** What a worker has to say when it stops is begun within this time; the rest is for the others. */
const LAST_DELIVERY_MS = 5000;

/**
 * Starts a worker: it takes orders and runs from the store and does them, delivers comments, and puts in order what
 * crashed workers left. Any number of them, in any number of processes, share one store.
 *
 * @example
 * const worker = startWorker({ store, lead, runs: { data: '.sluice' }, concurrency: 2 })
 * process.once('SIGTERM', () => void worker.stop())
 */
export function startWorker(options: WorkerOptions): Worker {
  const { store, lead, runs, takes = ['orders', 'runs'], logger = silentLogger, clock = Date.now } = options;
  const { leaseMs = DEFAULT_LEASE_MS, pollMs = DEFAULT_POLL_MS, concurrency = DEFAULT_CONCURRENCY } = options;
  const newId = options.newId ?? createUlids(clock);
  const id = newId();
  const outOfTime = new AbortController();
  // Every piece of work listens to it.
  setMaxListeners(0, outOfTime.signal);
  const context: WorkContext = { store, lead, runs, leaseMs, clock, logger, signal: outOfTime.signal };
  const tasks = new Set<Promise<void>>();
  const forWork = createWaker();
  const forDelivery = createWaker();
  const forOrder = createWaker();
  const stopping = new AbortController();

  const wake = () => {
    forWork.wake();
    forDelivery.wake();
  };

  /** Does claimed work beside the loop; whatever goes wrong with it does not stop the worker. */
  function begin(workerId: string, work: () => Promise<unknown>): void {
    const task = whileInProgress(workerId, work)
      .then(
        () => undefined,
        (error: unknown) => logger.error('work broke off', { worker_id: workerId, error: String(error) }),
      )
      .finally(() => {
        tasks.delete(task);
        wake();
      });
    tasks.add(task);
  }

  /** Takes one piece of work of a kind; false if there is none. A claim has a name of its own, so that each can be told lost. */
  async function takeOne(kind: 'orders' | 'runs'): Promise<boolean> {
    const workerId = `${id}/${newId()}`;
    const now = clock();
    if (kind === 'runs') {
      const record = await store.claimRun({ workerId, leaseMs, now });
      if (record !== undefined) begin(workerId, async () => doRun(context, record, workerId));
      return record !== undefined;
    }
    const claimed = await store.claimOrder({
      worker: await identifyWorker(workerId),
      leaseMs,
      now,
      concurrency: options.concurrencyByType ?? {},
      ...(options.workerTypes === undefined ? {} : { workerTypes: options.workerTypes }),
    });
    if (claimed !== undefined) begin(workerId, async () => doOrder(context, claimed, workerId));
    return claimed !== undefined;
  }

  /** Orders and runs in turn, so that neither starves the other. */
  async function takeWork(): Promise<void> {
    for (let hasFound = true; hasFound;) {
      hasFound = false;
      for (const kind of takes) {
        if (stopping.signal.aborted || tasks.size >= concurrency) return;
        if (await takeOne(kind)) hasFound = true;
      }
    }
  }

  async function repeat(name: string, waker: typeof forWork, sleepMs: number, work: () => Promise<unknown>) {
    for (;;) {
      try {
        await work();
      } catch (error) {
        logger.warn(`${name} failed, trying again`, { error: String(error) });
        // Not at once: whoever was woken by the failure itself would turn in circles.
        await pause(FAILURE_PAUSE_MS);
      }
      if (stopping.signal.aborted) return;
      await waker.sleep(sleepMs);
      await pause(LEAST_PAUSE_MS);
    }
  }

  const putInOrder = async () => {
    const { requeued, settled, ended } = await lead.reconcile({ signal: stopping.signal });
    const lost = await endLostRuns(store, clock());
    if (requeued + settled + ended + lost > 0) logger.info('put in order', { requeued, settled, ended, lost });
    if (requeued > 0) forWork.wake();
  };
  const stopWatching = store.watchQueue(wake);
  const loops = [
    repeat('taking work', forWork, pollMs, takeWork),
    repeat('delivering', forDelivery, pollMs, async () => lead.deliver({ signal: stopping.signal })),
    repeat('putting in order', forOrder, options.reconcileMs ?? leaseMs, putInOrder),
  ];

  async function stop(): Promise<void> {
    stopping.abort();
    stopWatching();
    for (const waker of [forWork, forDelivery, forOrder]) waker.wake();
    // The loops first: one of them may just be claiming something.
    await Promise.all(loops);
    await Promise.all(tasks);
    const signal = AbortSignal.timeout(LAST_DELIVERY_MS);
    await lead.deliver({ signal }).catch((error: unknown) => {
      logger.warn('last delivery failed', { error: String(error) });
    });
  }
  let stopped: Promise<void> | undefined;

  return {
    id,
    get busy() {
      return tasks.size;
    },
    wake,
    stop: async ({ graceMs } = {}) => {
      stopped ??= stop();
      // A second call may be in a greater hurry than the first.
      const timer = graceMs === undefined ? undefined : setTimeout(() => outOfTime.abort(), graceMs);
      await stopped;
      clearTimeout(timer);
    },
  };
}
