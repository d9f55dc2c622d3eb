import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { SluiceError, createUlidGenerator, silentLogger } from '../../base/index.js';
import type { RunRecord, WorkerIdentity } from '../../store/records/index.js';
import { VERSION, chooseDataFolder } from '../../base/files/index.js';
import { identifyOwnProcess, listLaunchers } from '../../runs/index.js';
import { whileInProgress } from './hold-claim.js';
import { executeRun, resumeAdopted } from './execute-run.js';
import { repeatWork } from './repeat-work.js';
import { Slots } from './slots.js';
import { startReaper } from './start-reaper.js';
import { createWaker } from './waker.js';
import { DEFAULT_LEASE_MS, type WorkContext, type Worker, type WorkerOptions } from './worker-options.js';

const DEFAULT_CONCURRENCY = 4;
/** Work is normally found by wake-ups; a poll only finds work whose wake-up was lost. */
const DEFAULT_POLL_MS = 30_000;
const FIRST_POLL_MS = 250;
/** A larger difference between clocks is logged as a warning. */
const CLOCK_TOLERANCE_MS = 5000;
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
  const { store, lead, kinds = ['orders', 'runs'], logger = silentLogger } = options;
  const runs = { ...options.runs, data: chooseDataFolder(options.runs?.data) };
  const { clock = () => store.now() } = options;
  const { leaseMs = DEFAULT_LEASE_MS, pollMs = DEFAULT_POLL_MS, concurrency = DEFAULT_CONCURRENCY } = options;
  const { reconcileMs = leaseMs } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new SluiceError('INVALID_OPTION', 'Invalid concurrency: use an integer of at least 1.');
  }
  const newId = options.newId ?? createUlidGenerator(clock);
  const id = newId();
  const outOfTime = new AbortController();
  // Every run adds a listener.
  setMaxListeners(0, outOfTime.signal);
  const slots = new Slots(concurrency);
  const { budgets } = options;
  const workWaker = createWaker();
  const deliveryWaker = createWaker();
  const reportWaker = createWaker();
  const wakeAt = (time: number) => workWaker.wakeAt(performance.now() + time - clock());
  const limits = { slots, budgets };
  const context: WorkContext = {
    store,
    lead,
    runs,
    leaseMs,
    clock,
    logger,
    wakeAt,
    signal: outOfTime.signal,
    ...limits,
  };
  const tasks = new Set<Promise<void>>();
  const stopping = new AbortController();

  const wake = () => {
    workWaker.wake();
    deliveryWaker.wake();
  };

  /** Executes claimed work concurrently with the loop; a failure does not stop the worker. */
  function startTask(workerId: string, work: () => Promise<unknown>): void {
    const task = whileInProgress(workerId, work)
      .then(
        () => undefined,
        (error: unknown) => logger.error('run failed unexpectedly', { worker_id: workerId, error: String(error) }),
      )
      .finally(() => {
        tasks.delete(task);
        slots.free(workerId);
        wake();
      });
    tasks.add(task);
  }
  slots.onFree = wake;

  /**
   * Claims runs until the queue is empty or all slots are used. Each claim has its own worker id, so each can be lost
   * separately.
   */
  async function claimWork(): Promise<void> {
    while (!stopping.signal.aborted && !slots.isFull) {
      const workerId = `${id}/${newId()}`;
      const claimed = await store.claimRun({
        worker: await identifyWorker(workerId),
        leaseMs,
        now: clock(),
        kinds,
        concurrency: options.concurrencyByType ?? {},
        ...(options.workerTypes === undefined ? {} : { workerTypes: options.workerTypes }),
        watcher: id,
        isLast: slots.hasOneFree,
      });
      if (claimed === undefined) return;
      slots.take(workerId);
      startTask(workerId, async () => executeRun(context, claimed, workerId));
    }
  }

  /** Takes over a run on this host whose worker is gone; a run waiting for an answer uses no slot. */
  async function adopt({ id: runId, owner, state, order }: RunRecord): Promise<boolean> {
    if (!kinds.includes(order === null ? 'runs' : 'orders')) return false;
    if (owner === null || stopping.signal.aborted || (state !== 'waiting' && slots.isFull)) return false;
    const workerId = `${id}/${newId()}`;
    const worker = await identifyWorker(workerId);
    const record = await store.adoptRun({ id: runId, from: owner.worker_id, worker, leaseMs, now: clock() });
    if (record === undefined) return false;
    if (record.state !== 'waiting') slots.take(workerId);
    startTask(workerId, async () => resumeAdopted(context, record, workerId));
    return true;
  }

  /** Delivers the comments that are due, and wakes up again for the next retry. */
  async function deliver(): Promise<void> {
    const { retryAt } = await lead.deliver({ signal: stopping.signal });
    if (retryAt !== undefined) deliveryWaker.wakeAt(performance.now() + retryAt - clock());
  }

  /**
   * Reports to the store that this worker is alive, and checks whether runs on this host have expired. A worker that
   * misses two leases is gone.
   */
  const report = async () => {
    const now = clock();
    const { hasExpiredRuns } = await store.reportWorker({
      id,
      host: hostname(),
      version: VERSION,
      engines: Object.keys(listLaunchers(runs.agents)),
      capacity: concurrency,
      busy: slots.taken,
      isStopping: stopping.signal.aborted,
      now,
      aliveUntil: now + 2 * leaseMs,
    });
    if (hasExpiredRuns) reaper.reconcileNow();
  };
  const skewMs = clock() - Date.now();
  if (options.clock === undefined && Math.abs(skewMs) > CLOCK_TOLERANCE_MS) {
    logger.warn("this host's clock differs from the database's; leases follow the database", { skew_ms: skewMs });
  }
  const stopWatching = store.watchQueue(
    (work) => {
      if (work !== 'messages') workWaker.wake();
      if (work !== 'runs') deliveryWaker.wake();
    },
    { worker: id, kinds, ...(options.workerTypes === undefined ? {} : { workerTypes: options.workerTypes }) },
  );
  const loop = { logger, signal: stopping.signal, firstSleepMs: Math.min(FIRST_POLL_MS, pollMs) };
  const loops = [
    repeatWork({ ...loop, name: 'claiming work', waker: workWaker, sleepMs: pollMs, work: claimWork }),
    repeatWork({
      ...loop,
      name: 'delivering',
      waker: deliveryWaker,
      sleepMs: 2 * pollMs,
      work: deliver,
    }),
  ];
  const reaper = startReaper({
    store,
    lead,
    data: runs.data,
    clock,
    logger,
    everyMs: reconcileMs,
    isNotified: true,
    onRequeued: workWaker.wake,
    workerLostRetries: options.workerLostRetries ?? 0,
    ...(runs.agents === undefined ? {} : { agents: runs.agents }),
    adopt,
  });
  // The worker reports until its last run has ended, even while it shuts down.
  const idle = new AbortController();
  const reports = repeatWork({
    name: 'reporting to the fleet',
    waker: reportWaker,
    sleepMs: Math.min(leaseMs, reconcileMs),
    work: report,
    logger,
    signal: idle.signal,
  });
  async function stop(): Promise<void> {
    stopping.abort();
    stopWatching();
    for (const waker of [workWaker, deliveryWaker, reportWaker]) waker.wake();
    // The loops come first, because one of them could be claiming a run.
    await Promise.all([...loops, reaper.stop()]);
    await Promise.all(tasks);
    idle.abort();
    reportWaker.wake();
    await reports;
    await store.removeWorker(id).catch((error: unknown) => {
      logger.warn('cannot unregister the worker', { error: String(error) });
    });
    const signal = AbortSignal.timeout(LAST_DELIVERY_MS);
    await lead.deliver({ signal }).catch((error: unknown) => {
      logger.warn('last delivery failed', { error: String(error) });
    });
  }
  let stopped: Promise<void> | undefined;

  return {
    id,
    get busy() {
      return slots.taken;
    },
    wake,
    stop: async ({ graceMs } = {}) => {
      stopped ??= stop();
      // A second call can have a shorter grace period than the first.
      const timer = graceMs === undefined ? undefined : setTimeout(() => outOfTime.abort(), graceMs);
      await stopped;
      clearTimeout(timer);
    },
  };
}

/** Identifies the holder of a claim: this process, with a different worker id for every claim. */
async function identifyWorker(workerId: string): Promise<WorkerIdentity> {
  const { pid, started } = await identifyOwnProcess();
  return { worker_id: workerId, host: hostname(), pid, pid_started: started };
}
