import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { SluiceError, createUlidGenerator, omitUndefined, silentLogger, type Logger } from '../../base/index.js';
import type { ClaimedRun } from '../../store/ports/index.js';
import type { RunRecord, WorkerIdentity } from '../../store/records/index.js';
import { VERSION, chooseDataFolder } from '../../base/files/index.js';
import { identifyOwnProcess, listLaunchers } from '../../runs/index.js';
import { whileInProgress } from './hold-claim.js';
import { executeRun, resumeAdopted } from './execute-run.js';
import { repeatWork } from './repeat-work.js';
import { Slots } from './slots.js';
import { createWaker } from './waker.js';
import { DEFAULT_LEASE_MS } from './worker-options.js';
import type { ClaimOptions, WorkContext, Worker, WorkerLead, WorkerStore } from './worker-options.js';

const DEFAULT_CONCURRENCY = 4;
/** Work is normally found by wake-ups; a poll only finds work whose wake-up was lost. */
const DEFAULT_POLL_MS = 30_000;
export const FIRST_POLL_MS = 250;
/** A larger difference between clocks is logged as a warning. */
const CLOCK_TOLERANCE_MS = 5000;

/** The ports of a worker. */
export interface ClaimingOptions extends ClaimOptions {
  readonly store: WorkerStore;
  readonly lead: WorkerLead;
  readonly requestBudget?: WorkContext['requestBudget'];
  /** Starts what this process does besides, for all workers or for its host; nothing by default. */
  readonly startDuties?: (worker: DutyContext) => Duties;
}

/** A worker, as its duties see it. */
export interface DutyContext {
  readonly clock: () => number;
  readonly logger: Logger;
  readonly data: string;
  readonly pollMs: number;
  readonly reconcileMs: number;
  /** Aborted when the worker stops. */
  readonly signal: AbortSignal;
  /** Looks for runs to claim. */
  readonly wake: () => void;
  /** Takes over a run on this host whose worker is gone; returns false if that is not possible now. */
  readonly adopt: (run: RunRecord) => Promise<boolean>;
}

/** Work besides claimed runs. */
export interface Duties {
  /** Called when there might be comments to deliver. */
  wake?(): void;
  /** Called when leases of this host have expired. */
  onExpired?(): void;
  /** Called when the worker stops: starts nothing more, and waits for what is in progress. */
  stop?(): Promise<void>;
  /** Called after the last run has ended. */
  finish?(): Promise<void>;
}

/** Claims runs and executes them, with the orders they carry, until it is stopped. */
export function claimRuns(options: ClaimingOptions): Worker {
  const { kinds = ['orders', 'runs'], pollMs = DEFAULT_POLL_MS, concurrency = DEFAULT_CONCURRENCY } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new SluiceError('INVALID_OPTION', 'Invalid concurrency: use an integer of at least 1.');
  }
  const outOfTime = new AbortController();
  // Every run adds a listener.
  setMaxListeners(0, outOfTime.signal);
  const slots = new Slots(concurrency);
  const workWaker = createWaker();
  const reportWaker = createWaker();
  const wakeAt = (time: number) => workWaker.wakeAt(performance.now() + time - clock());
  const context: WorkContext = { ...createContext(options, outOfTime.signal), wakeAt, slots };
  const { store, runs, leaseMs, clock, logger } = context;
  const { reconcileMs = leaseMs } = options;
  const newId = options.newId ?? createUlidGenerator(clock);
  const id = newId();
  const fits = omitUndefined({ workerTypes: options.workerTypes, labels: options.labels });
  const tasks = new Set<Promise<void>>();
  const stopping = new AbortController();

  let duties: Duties = {};
  const wake = () => {
    workWaker.wake();
    duties.wake?.();
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

  /** Creates the holder of a claim: this process, with a separate worker id, so each claim can be lost separately. */
  async function createHolder(): Promise<WorkerIdentity> {
    const { pid, started } = await identifyOwnProcess();
    return { worker_id: `${id}/${newId()}`, host: hostname(), pid, pid_started: started };
  }

  /** Claims runs until the queue is empty or all slots are used. */
  async function claimWork(): Promise<void> {
    while (!stopping.signal.aborted && !slots.isFull) {
      const worker = await createHolder();
      const claimed = await store.claimRun({
        worker,
        leaseMs,
        now: clock(),
        kinds,
        concurrency: options.concurrencyByType ?? {},
        ...fits,
        watcher: id,
        isLast: slots.hasOneFree,
      });
      if (claimed === undefined) return;
      // A server can have claimed it earlier, under another id.
      const holder = claimed.record.owner?.worker_id ?? worker.worker_id;
      slots.take(holder);
      startTask(holder, async () => executeRun(context, claimed, holder));
    }
  }

  /** Takes over a run on this host whose worker is gone; a run waiting for an answer uses no slot. */
  async function adopt({ id: runId, owner, state, order }: RunRecord): Promise<boolean> {
    if (!kinds.includes(order === null ? 'runs' : 'orders')) return false;
    if (owner === null || stopping.signal.aborted || (state !== 'waiting' && slots.isFull)) return false;
    const worker = await createHolder();
    const { worker_id: workerId } = worker;
    const record = await store.adoptRun({ id: runId, from: owner.worker_id, worker, leaseMs, now: clock() });
    if (record === undefined) return false;
    if (record.state !== 'waiting') slots.take(workerId);
    startTask(workerId, async () => resumeAdopted(context, record, workerId));
    return true;
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
    if (hasExpiredRuns) duties.onExpired?.();
  };
  const skewMs = clock() - Date.now();
  if (options.clock === undefined && Math.abs(skewMs) > CLOCK_TOLERANCE_MS) {
    logger.warn("this host's clock differs from the database's; leases follow the database", { skew_ms: skewMs });
  }
  const stopWatching = store.watchQueue(
    (work) => {
      if (work !== 'messages') workWaker.wake();
      if (work !== 'runs') duties.wake?.();
    },
    { worker: id, kinds, ...fits },
  );
  const { signal } = stopping;
  const claiming = repeatWork({
    name: 'claiming work',
    work: claimWork,
    waker: workWaker,
    sleepMs: pollMs,
    firstSleepMs: Math.min(FIRST_POLL_MS, pollMs),
    logger,
    signal,
  });
  const duty = { clock, logger, data: runs.data, pollMs, reconcileMs, signal, wake: workWaker.wake, adopt };
  duties = options.startDuties?.(duty) ?? {};
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
    // Reports at once that the worker is stopping.
    reportWaker.wake();
    // These come first, because one of them could be claiming a run.
    await Promise.all([claiming, duties.stop?.()]);
    await Promise.all(tasks);
    idle.abort();
    await reports;
    await store.removeWorker(id).catch((error: unknown) => {
      logger.warn('cannot unregister the worker', { error: String(error) });
    });
    await duties.finish?.();
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

/** The part of the options that executes runs. */
type ExecutionOptions = Pick<
  ClaimingOptions,
  'store' | 'lead' | 'runs' | 'requestBudget' | 'leaseMs' | 'clock' | 'logger' | 'sessions'
>;

function createContext(options: ExecutionOptions, signal: AbortSignal) {
  const { store, lead, leaseMs = DEFAULT_LEASE_MS, logger = silentLogger, sessions, requestBudget } = options;
  const { clock = () => store.now() } = options;
  const runs = { ...options.runs, data: chooseDataFolder(options.runs?.data) };
  return { store, lead, runs, leaseMs, clock, logger, signal, sessions, requestBudget };
}

/** Executes one run that is already claimed by `workerId`, and the order it carries. */
export async function executeClaim(
  options: Omit<ExecutionOptions, 'clock'>,
  claimed: ClaimedRun,
  { workerId, signal }: { readonly workerId: string; readonly signal: AbortSignal },
): Promise<void> {
  const context = { ...createContext(options, signal), leavesWaiting: true };
  await whileInProgress(workerId, async () => executeRun(context, claimed, workerId));
}
