import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import { chooseDataFolder, isPresent, removeFolder } from '../../base/files/index.js';
import type { Lead } from '../lead/create-lead.js';
import { STREAM_BYTES } from '../reading/read-work-result.js';
import type { InboxItem, RunRecord, RunResult } from '../../store/records/index.js';
import { readLastAttempt, getRunFolderPath } from '../../runs/run-folder/index.js';
import {
  DEFAULT_LIMITS,
  terminateOrphans,
  terminateRunProcesses,
  createFailedResult,
  getProcessState,
  listLaunchers,
  removeRunContainers,
} from '../../runs/index.js';
import type { RunPorts } from '../../runs/index.js';
import type { SessionKeeper } from '../../runs/archive/index.js';
import type { ContainerSettings } from '../../runs/sandbox/index.js';
import type { Store } from '../../store/index.js';
import type { RunStore } from '../../store/ports/index.js';
import { isInProgress } from './hold-claim.js';
import type { WorkerFailureCode } from './worker-options.js';
import { describeError, EXIT_UNKNOWN, leaveWorktree } from './order/finish-order.js';
import { recordStart } from '../git/repository.js';
import { getCheckFolder } from './order/run-checks.js';
import { getWorktree } from '../git/worktree.js';

/** Options for {@link reconcile}. */
export interface ReconcileOptions {
  readonly store: Store;
  readonly lead: Lead;
  /** The data folder: run folders, worktrees, records of running processes; this project's by default. */
  readonly data?: string;
  readonly clock: () => number;
  /** Whether another host's claim has been expired for long enough; true by default. */
  readonly isAbandoned?: (run: RunRecord) => boolean;
  /**
   * How many times an order whose worker died is requeued, under a new run id: 1 by default where a placement attests
   * that nothing of it is left, otherwise 0.
   */
  readonly workerLostRetries?: number | undefined;
  /** The configured agents, whose runs can be resumed too. */
  readonly agents?: RunPorts['agents'] | undefined;
  /** Finds the engine of containers that are left; this host's by default. */
  readonly containers?: ContainerSettings | undefined;
  /** The sessions of waiting runs that any worker can resume. */
  readonly sessions?: Pick<SessionKeeper, 'has'> | undefined;
  /** Takes over a resumable run on this host; returns false if that is not possible now. Only set by workers. */
  readonly adopt?: (run: RunRecord) => Promise<boolean>;
}

/** The outcome of a reconciliation, as counts. */
export interface Reconciliation {
  /** Expired claims whose process never started, or whose session was saved while they waited; they are requeued. */
  readonly requeued: number;
  /** Orphaned runs: their worker is gone, so they were ended; their orders go to a human. */
  readonly ended: number;
  /**
   * Runs whose lease has expired, left unchanged: their worker is alive, another worker can still resume them, or they
   * belong to another host and expired only recently.
   */
  readonly held: number;
  /** Runs on this host that another worker has taken over: they are waiting for an answer, or resumable. */
  readonly adopted: number;
  /** Processes that were killed because the Sluice process that started them was gone. */
  readonly processes: number;
}

const GONE: WorkerFailureCode = 'WORKER_GONE';
const ORPHANED = createFailedResult(
  GONE,
  'The worker that executed this run is gone; how the run ended is unknown. Start the run again.',
);

export const NOTHING_DONE: Reconciliation = { requeued: 0, ended: 0, held: 0, adopted: 0, processes: 0 };

/**
 * Cleans up after crashed workers: kills processes that outlived them, requeues claims that never started, and ends
 * orphaned runs. The order of an orphaned run is settled with the readable part of its result.
 *
 * @example
 * const { requeued, ended } = await reconcile({ store, lead, clock: Date.now })
 */
export async function reconcile(reconcileOptions: ReconcileOptions): Promise<Reconciliation> {
  const options = { ...reconcileOptions, data: chooseDataFolder(reconcileOptions.data) };
  // This comes first, because a run has ended only when its process is gone.
  const processes = await endOrphanedProcesses(options);
  const hostReport = await reconcileHost(options);
  const fleetReport = await reconcileFleet(options);
  return {
    requeued: fleetReport.requeued,
    ended: hostReport.ended + fleetReport.ended,
    held: hostReport.held + fleetReport.held,
    adopted: hostReport.adopted,
    processes,
  };
}

type HostOptions = ReconcileOptions & { readonly data: string };

interface OrphanOptions extends Pick<ReconcileOptions, 'containers'> {
  readonly store: Pick<RunStore, 'findRun'>;
  readonly data: string;
}

/**
 * Kills this data folder's processes that outlived their Sluice process, and returns their number. Queries the store
 * only if any exist.
 */
export async function endOrphanedProcesses({ store, data, containers }: OrphanOptions): Promise<number> {
  const killedProcesses = await terminateOrphans(join(await realpath(data).catch(() => data), 'processes'), {
    containers,
    isOrphan: async ({ runDir }) => hasNoLiveOwner(await store.findRun(basename(runDir))),
  });
  return killedProcesses.length;
}

/**
 * Reconciles runs on this host whose lease has expired. Only a process on the host can check whether their workers are
 * alive, kill their processes and resume them, so every process does this for its own host.
 */
export async function reconcileHost(options: HostOptions): Promise<Reconciliation> {
  return endExpired(options, { host: hostname() }, async (run) => {
    if (run.owner === null || (await isOnThisHost(run.owner))) return endUnlessOwned(options, run);
    // It was started before a restart, or by another container with this host's name. A run that waits for an answer
    // has no work in progress, so it can be resumed; for any other only the lease counts, as for another host.
    const isWaiting = run.state === 'waiting' && (await isResumable(options, run));
    return isWaiting ? resumeLater(options, run) : undefined;
  });
}

/**
 * Reconciles everything that any host can: requeues claims that never started, and ends other hosts' runs, for which
 * only the lease is known. One process at a time does this for all.
 */
export async function reconcileFleet(options: HostOptions): Promise<Reconciliation> {
  const { store, clock } = options;
  if (!(await store.hasExpiredRuns(clock()))) return NOTHING_DONE;
  const requeued = await store.requeueExpired(clock());
  const report = await endExpired(options, {}, async (run) =>
    run.owner !== null && !isThroughServer(run.owner) && (await isOnThisHost(run.owner))
      ? undefined
      : endUnlessOwned(options, run),
  );
  return { ...report, requeued: requeued + report.requeued };
}

type Reconciled = 'held' | 'ended' | 'adopted' | 'requeued';

async function endExpired(
  { store, clock }: HostOptions,
  filter: { readonly host?: string },
  end: (run: RunRecord) => Promise<Reconciled | undefined>,
): Promise<Reconciliation> {
  const report: { -readonly [Key in keyof Reconciliation]: number } = { ...NOTHING_DONE };
  let last: RunRecord | undefined;
  for (;;) {
    const expired = await store.listExpiredRuns(clock(), { ...filter, after: last?.id });
    if (expired.length === 0) return report;
    last = expired.at(-1);
    for (const outcome of await Promise.allSettled(expired.map(end))) {
      if (outcome.status === 'rejected') throw outcome.reason;
      if (outcome.value !== undefined) report[outcome.value] += 1;
    }
  }
}

async function endUnlessOwned(options: HostOptions, run: RunRecord): Promise<Reconciled> {
  const { owner } = run;
  if (owner === null) return 'held';
  if (await isHeld(owner)) {
    // Its process lives, but does not know this claim: the response to a request was lost with a server.
    const isForgotten = isThroughServer(owner) && options.isAbandoned?.(run) === true;
    if (isForgotten) await endLost(options, run, { loss: 'unknown' });
    return isForgotten ? 'ended' : 'held';
  }
  const isLocal = await isOnThisHost(owner);
  // The next run in that folder must not share it with old processes.
  if (isLocal) await terminateRunProcesses(run.id);
  if (await isResumable(options, run)) {
    const outcome = isLocal ? await resumeLater(options, run) : 'held';
    return outcome === 'held' && (await handOver(options, run)) ? 'requeued' : outcome;
  }
  if (!isLocal && options.isAbandoned?.(run) === false) return 'held';
  // This host cannot check whether an agent on another host is gone: a human decides.
  await endLost(options, run, { loss: isLocal ? await attestLoss(options, run) : 'unknown' });
  return 'ended';
}

/**
 * How sure it is that nothing of a lost run is left: a placement attests it, this host has observed that its processes
 * are gone, or it is not known.
 */
export type Loss = 'attested' | 'observed' | 'unknown';

/** Checks what is left of a run on this host whose processes are gone. A container can outlive them. */
async function attestLoss(
  { containers }: Pick<ReconcileOptions, 'containers'>,
  { id, spec }: RunRecord,
): Promise<Loss> {
  if (spec.placement !== 'container') return 'observed';
  return (await removeRunContainers(id, containers)) ? 'attested' : 'unknown';
}

/**
 * Resumes runs of this host and this data folder whose worker is gone, as far as that is possible, and yields those whose
 * container is gone too, as the container engine attests.
 */
export async function* reconcileExpired(
  options: AdoptionOptions & Pick<ReconcileOptions, 'containers'>,
  runs: readonly RunRecord[],
): AsyncIterable<RunRecord> {
  for (const run of runs) {
    if (run.owner === null || (await isHeld(run.owner))) continue;
    const canResume = await isResumable(options, run);
    // In another container with this host's name, the agent of a run that does not wait could still be working.
    if (!(canResume && run.state === 'waiting') && !(await isOnThisHost(run.owner))) continue;
    await terminateRunProcesses(run.id);
    if (canResume) await resumeLater(options, run);
    else if ((await attestLoss(options, run)) === 'attested') yield run;
  }
}

/**
 * Ends a run whose worker is lost, with the readable part of its result, and requeues its order if the loss is certain
 * and retries are left. Its claim must have expired, or been moved to this process.
 */
export async function endLost(
  options: Pick<HostOptions, 'store' | 'lead' | 'data' | 'clock' | 'workerLostRetries'>,
  { id, owner, order }: RunRecord,
  { loss, result = ORPHANED }: { readonly loss: Loss; readonly result?: RunResult },
): Promise<void> {
  if (order === null) {
    await options.store.endRun({ id, workerId: owner?.worker_id ?? '', result, now: options.clock() });
    return;
  }
  await settleOrphan(options, order, id, result);
  if (loss !== 'unknown') await retryLost(options, order, loss);
}

/**
 * Whether a worker's process can be observed here. Two hosts can have one name: containers that share the host's
 * network, or cloned machines. So the name, the boot and the PID namespace must match.
 */
async function isOnThisHost({ host, pid, pid_started }: NonNullable<RunRecord['owner']>): Promise<boolean> {
  return host === hostname() && (await getProcessState({ pid, started: pid_started })) !== 'unknown';
}

/**
 * Whether a worker holds a claim through a server, which gives its worker ids a prefix. Its host, its process and its
 * spec are what it says: nothing on this host is read or executed because of them.
 */
export function isThroughServer({ worker_id }: NonNullable<RunRecord['owner']>): boolean {
  return /^(?:worker|run):/.test(worker_id);
}

/**
 * Whether no live worker on this host holds a run. The store is authoritative, because process records are only files.
 * The processes of a worker in another container with this host's name can be visible here: they are left alone.
 */
async function hasNoLiveOwner(run: RunRecord | undefined): Promise<boolean> {
  const { owner = null, state } = run ?? {};
  if (owner === null || state === 'ended') return true;
  if (await isHeld(owner)) return false;
  return owner.host !== hostname() || (await isOnThisHost(owner));
}

/**
 * Whether another worker can resume a run: it is waiting for an answer or its spec allows it, and its engine has
 * sessions. A run that carries an order must be waiting, and the store must have the state of its repository.
 */
async function isResumable({ store, agents, clock }: Omit<AdoptionOptions, 'data'>, run: RunRecord): Promise<boolean> {
  const { order, spec, state, cancel_requested, lease_until: leaseUntil } = run;
  const isWaiting = state === 'waiting';
  if (cancel_requested || (!isWaiting && (order !== null || spec.resume !== 'same-host'))) return false;
  if (order !== null && (await store.findRepositoryStart(run.id)) === undefined) return false;
  // It can be resumed only while an answer is still possible.
  const waitMs = (spec.limits?.wait_s ?? DEFAULT_LIMITS.wait_s) * 1000;
  return listLaunchers(agents)[spec.engine]?.canResume === true && (leaseUntil ?? 0) + waitMs > clock();
}

interface AdoptionOptions extends Pick<ReconcileOptions, 'adopt' | 'agents' | 'clock'> {
  readonly store: Pick<RunStore, 'findRepositoryStart'>;
  readonly data: string;
}

/** Lets a worker on the same host with the same data folder resume the run; other processes leave it alone. */
async function resumeLater(
  { adopt, data }: Pick<AdoptionOptions, 'adopt' | 'data'>,
  run: RunRecord,
): Promise<'held' | 'adopted'> {
  // The copy of a run that a worker has sent is no session of this host; that worker's own host resumes it.
  if (adopt === undefined || run.owner === null || isThroughServer(run.owner)) return 'held';
  if (!(await isPresent(getRunFolderPath(data, run.id)))) return 'held';
  return (await adopt(run)) ? 'adopted' : 'held';
}

/** Lets any worker resume a waiting run whose worker is gone, if its session was saved. */
async function handOver({ store, sessions, clock, isAbandoned }: HostOptions, run: RunRecord): Promise<boolean> {
  const { id, state, owner } = run;
  if (state !== 'waiting' || isAbandoned?.(run) !== true || (await sessions?.has(id)) !== true) return false;
  return store.releaseRun({ id, workerId: owner?.worker_id ?? '', now: clock(), retryAt: 0, isWaiting: true });
}

/** Whether a live worker holds the claim. For other hosts only the lease could show that, and it has expired. */
async function isHeld({ worker_id, host, pid, pid_started }: NonNullable<RunRecord['owner']>): Promise<boolean> {
  if (isInProgress(worker_id)) return true;
  if (host !== hostname() || pid === process.pid) return false;
  return (await getProcessState({ pid, started: pid_started })) === 'alive';
}

async function settleOrphan(
  { store, lead, data }: Pick<HostOptions, 'store' | 'lead' | 'data'>,
  { issue_ref: issueRef, run_id: runId }: NonNullable<RunRecord['order']>,
  run: string,
  runResult: RunResult,
): Promise<void> {
  const record = await store.findOrder(issueRef, runId);
  if (record === undefined) return;
  const { stdout, stderr, command, version } = await readLastAttempt(getRunFolderPath(data, run), STREAM_BYTES, {
    trustedRoot: data,
  });
  const worktree = getWorktree(data, record.order, run, lead.filters);
  const note = (await isPresent(worktree.folder))
    ? await leaveWorktree(lead, { worktree, order: record.order, start: await recordStart(worktree.repoDir) })
    : {};
  // A folder that cannot be removed must not prevent the order from being settled.
  await removeFolder(getCheckFolder(data, run)).catch(() => undefined);
  // An exit code in the folder is ignored: the exit was not observed, and the agent could have written the file.
  const runError = runResult.error?.cause === undefined ? undefined : describeError(runResult.error);
  const facts = { stdout, stderr, command, workerVersion: version, runResult, ...omitUndefined({ runError }) };
  await lead.settle({ issueRef, runId, ...EXIT_UNKNOWN, ...facts, ...note });
}

/** Recorded in the resolution instead of a user name. */
const RETRIED_BY = 'sluice (retries.worker_lost)';

/**
 * Requeues the order if it has retries left. This resolves the inbox item like a manual retry: it is rejected if the
 * run is no longer its issue's active run, and recorded with an execution and a comment. After a crash before that, a
 * human decides.
 */
async function retryLost(
  { store, lead, workerLostRetries: configured }: Pick<ReconcileOptions, 'store' | 'lead' | 'workerLostRetries'>,
  { issue_ref: issueRef, run_id: runId }: NonNullable<RunRecord['order']>,
  loss: Loss,
): Promise<void> {
  const workerLostRetries = configured ?? (loss === 'attested' ? 1 : 0);
  if (workerLostRetries === 0) return;
  const { items } = await store.listInbox({ issueRef, order: 'newest', limit: 100 });
  // A run in a race is not repeated: the others continue, or a human chooses between them.
  const isOpen = ({ run_id, resolution, group }: InboxItem): boolean =>
    run_id === runId && resolution === null && group === undefined;
  const item = items.find(isOpen);
  // A human decision resets the count.
  const decided = items.flatMap(({ resolution }) =>
    resolution === null ? [] : 'who' in resolution ? resolution.who : '',
  );
  const lastDecision = decided.findIndex((who) => who !== RETRIED_BY);
  const count = lastDecision === -1 ? decided.length : lastDecision;
  if (item === undefined || count >= workerLostRetries) return;
  const why = `The worker was lost; retry ${count + 1} of ${workerLostRetries}.`;
  await lead.resolve({ id: item.id, action: 'retry', who: RETRIED_BY, why });
}

/** Causes for which a place ended under a run that might otherwise have succeeded. */
const LOST_PLACE: ReadonlySet<string | undefined> = new Set(['evicted', 'preempted', 'node_lost']);

/**
 * Returns a lead that requeues an order after it is settled, if the place of its agent was lost while the worker was
 * not: the engine has attested that nothing of it is left.
 */
export function retryLostPlaces<L extends Pick<Lead, 'settle'>>(
  lead: L,
  options: Pick<ReconcileOptions, 'store' | 'lead' | 'workerLostRetries'>,
): L {
  return {
    ...lead,
    async settle(end: Parameters<Lead['settle']>[0]) {
      const settled = await lead.settle(end);
      const { code, cause } = end.runResult?.error ?? {};
      if (code === 'PLACEMENT_FAILED' && LOST_PLACE.has(cause) && !settled.repeated)
        await retryLost(options, { issue_ref: end.issueRef, run_id: end.runId }, 'attested');
      return settled;
    },
  };
}
