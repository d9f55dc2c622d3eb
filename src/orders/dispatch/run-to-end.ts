import { join } from 'node:path';
import { getErrorMessage, isSluiceError, omitUndefined, createUlidGenerator } from '../../base/index.js';
import { decodeReply, type RunResult, type RunSpec, type RunState } from '../../store/records/index.js';
import { createFailedResult, createSessionLostError, lockFolder, resumeRun, startRun } from '../../runs/index.js';
import type { FolderLock, Run, RunPorts, SavedSession } from '../../runs/index.js';
import { settleBudget } from './budgets.js';
import { type HeldClaim, holdClaim, whileInProgress } from './hold-claim.js';
import type { WorkContext, WorkerFailureCode } from './worker-options.js';
import { retryStore } from './retry-store.js';
import type { Injection } from './order/inject-order.js';

const NOT_STARTED: WorkerFailureCode = 'RUN_NOT_STARTED';

/** A folder in use by a process outside the store is checked again after this time. */
const FOLDER_RETRY_MS = 1000;

/** The result of a run that was canceled between its claim and its process start. */
export const CANCELED_BEFORE_START: RunResult = {
  ...createFailedResult('RUN_CANCELED', 'The run was canceled before it started.'),
  status: 'canceled',
  error: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled before it started.' },
};

/**
 * Locks a claimed run's folder. If a process outside the store is working there, the run goes back into the queue: a
 * waiting run uses no slot. Returns undefined if the folder cannot be locked at all; the run then reports why.
 */
export async function acquireFolder(
  { store, runs, clock, wakeAt }: WorkContext,
  claim: { readonly id: string; readonly workerId: string },
  workdir: string,
): Promise<FolderLock | 'busy' | undefined> {
  try {
    const lock = await lockFolder(join(runs.data, 'locks'), workdir).catch(ignoreBusyFolder);
    if (lock !== undefined) return lock;
  } catch {
    return undefined;
  }
  const retryAt = clock() + FOLDER_RETRY_MS;
  await store.releaseRun({ ...claim, now: clock(), retryAt });
  wakeAt?.(retryAt);
  return 'busy';
}

/** Used where a folder that another process has locked is left to it. */
export function ignoreBusyFolder(error: unknown): undefined {
  if (!isSluiceError(error) || error.code !== 'WORKING_FOLDER_BUSY') throw error;
}

/** Options for running an agent. */
export interface RunPlan {
  readonly id: string;
  readonly workerId: string;
  readonly spec: RunSpec;
  readonly lock: FolderLock | undefined;
  /** The state of a run before it was resumed; undefined for a new run. */
  readonly resumedFrom?: RunState;
  /** Whether it was waiting on another host: its session is restored first. */
  readonly isMoved?: boolean;
  /** Whether the working folder belongs to this run alone. */
  readonly ownsFolder?: boolean;
  /** Finds out why another host cannot resume it; it can if undefined is returned. */
  readonly findObstacle?: () => Promise<string | undefined>;
  /** Whether it may be detached while it waits, to be resumed by another worker. */
  readonly mayDetach?: boolean;
  /** Variables besides the worker's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Inputs for the agent besides the spec. */
  readonly inputs?: RunPorts['inputs'];
  /** Further files that the sandbox of a configured wrapper's command shows. */
  readonly sandbox?: Injection['sandbox'];
  /** Called when it has started. */
  readonly onRun?: (run: Run) => void;
}

/** Runs an agent under a claim and returns its result; replies and cancellation reach it through the claim. */
export async function runToEnd(context: WorkContext, plan: RunPlan, claim: HeldClaim): Promise<RunResult> {
  const { id, workerId, spec, lock, env, inputs, resumedFrom, mayDetach = false } = plan;
  const { store, clock, runs } = context;
  let isFoundWaiting = resumedFrom === 'waiting';
  let isSaved = plan.isMoved === true;
  let isLeaving = false;
  const slot = context.slots?.assign(workerId, claim.stop);
  const ports: RunPorts = {
    ...runs,
    eventLog: store,
    cache: store,
    newId: () => id,
    ...omitUndefined({ inputs }),
    // The spec comes from a request, or from a wrapper whose placeholders a request fills.
    sandbox: {
      ...runs.sandbox,
      roots: runs.sandbox?.roots ?? [],
      ...plan.sandbox,
      read: [...(runs.sandbox?.read ?? []), ...(plan.sandbox?.read ?? [])],
    },
    ending: context.signal,
    environment: { ...(runs.environment ?? process.env), ...env },
    slot: {
      release: () => slot?.release(),
      async acquire() {
        // From here on, the saved session is older than the run.
        if (isSaved && !isLeaving && !claim.stop.aborted) await forgetSession(context, id);
        await slot?.acquire();
      },
    },
    async onHeld(collect) {
      if (!mayDetach || claim.stop.aborted) return;
      isSaved = await saveSession(context, plan, collect);
      if (!isSaved || context.leavesWaiting !== true) return;
      isLeaving = true;
      void starting.then(async (run) => run.detach());
    },
    onQuestion: async () => {
      // It is already waiting, and an answer might have been posted.
      if (isFoundWaiting) return void (isFoundWaiting = false);
      await retryStore(async () => store.setWaiting({ id, workerId, now: clock() }), context);
    },
    onUnanswered: async () => {
      isFoundWaiting = false;
      await retryStore(async () => store.setWaiting({ id, workerId, now: clock(), isWaiting: false }), context);
    },
    ...(lock === undefined ? {} : { folderLock: lock }),
  };
  let starting: Promise<Run>;
  try {
    starting = resumedFrom === undefined ? Promise.resolve(startRun(spec, ports)) : resume(context, plan, ports);
    claim.onReply(async (reply) => (await starting).reply(decodeReply(reply)));
    await starting;
  } catch (error) {
    // The spec might have been queued unchecked. If the run cannot be started, the error is its result.
    return createFailedResult(isSluiceError(error) ? error.code : NOT_STARTED, getErrorMessage(error));
  }
  const run = await starting;
  plan.onRun?.(run);
  const stop = async (): Promise<void> => {
    isLeaving ||= mayDetach && context.signal.aborted;
    if (!isLeaving || !(await run.detach())) await run.cancel(String(claim.stop.reason));
  };
  const onStop = () => void stop();
  if (claim.stop.aborted) onStop();
  claim.stop.addEventListener('abort', onStop, { once: true });
  const result = await run.result;
  claim.stop.removeEventListener('abort', onStop);
  await settleBudget(context, runs.budget, result.usage);
  if (isDetached(result) && isSaved && context.leavesWaiting !== true) {
    await store
      .releaseRun({ id, workerId, now: clock(), retryAt: 0, isWaiting: true })
      .catch((error: unknown) =>
        context.logger.warn('cannot release a waiting run', { run_id: id, error: getErrorMessage(error) }),
      );
  }
  return result;
}

async function resume(context: WorkContext, { id, spec, isMoved, ownsFolder = false }: RunPlan, ports: RunPorts) {
  if (isMoved !== true) return resumeRun(id, spec, ports);
  const bytes = await retryStore(async () => context.sessions?.load(id), context);
  if (bytes !== undefined) return resumeRun(id, spec, { ...ports, savedSession: { bytes, ownsFolder } });
  throw createSessionLostError('it is not in the archive');
}

/** Saves what another worker needs to resume a waiting run. If that is not possible, the run waits here. */
async function saveSession(
  { sessions, logger }: WorkContext,
  { id, findObstacle }: RunPlan,
  collect: () => Promise<SavedSession>,
): Promise<boolean> {
  if (sessions === undefined) return false;
  try {
    const obstacle = await findObstacle?.();
    const session = obstacle === undefined ? await collect() : { reason: obstacle };
    if ('reason' in session) {
      logger.warn('a waiting run cannot be resumed elsewhere, so it waits here', { run_id: id, ...session });
      return false;
    }
    await sessions.save(id, session.bytes);
    logger.info('session of a waiting run saved', { run_id: id, bytes: session.bytes.length });
    return true;
  } catch (error) {
    logger.warn('cannot save the session of a waiting run', { run_id: id, error: getErrorMessage(error) });
    return false;
  }
}

/** If this fails, the attempt number of the saved session shows that it is old. */
async function forgetSession({ sessions, logger }: WorkContext, id: string): Promise<void> {
  await sessions
    ?.remove(id)
    .catch((error: unknown) =>
      logger.warn('cannot remove a saved session', { run_id: id, error: getErrorMessage(error) }),
    );
}

/**
 * Whether a run was detached while it was waiting: it has not ended, and another worker on this host will resume it.
 */
export function isDetached({ error }: RunResult): boolean {
  return error?.code === 'RUN_DETACHED';
}

/** Starts a claimed run that carries no order, and records its end. */
export async function runWithoutOrder(context: WorkContext, plan: RunPlan, claim: HeldClaim): Promise<RunResult> {
  const { store, clock } = context;
  const { id, workerId } = plan;
  const started = await retryStore(async () => store.markStarted({ id, workerId, now: clock() }), context);
  if (started === 'lost') return CANCELED_BEFORE_START;
  const result = started === 'canceled' ? CANCELED_BEFORE_START : await runToEnd(context, plan, claim);
  await endRun(context, plan, result);
  return result;
}

/** Records the end of a run that carries no order, unless it was detached. */
export async function endRun(
  context: WorkContext,
  { id, workerId }: Pick<RunPlan, 'id' | 'workerId'>,
  result: RunResult,
): Promise<void> {
  const { store, clock } = context;
  if (isDetached(result)) return;
  await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
}

/** A run that this process executes itself. */
interface InProcessRun extends Pick<RunPlan, 'spec' | 'inputs' | 'onRun'> {
  readonly id?: string;
  /** The run whose result it checks. */
  readonly checks?: string;
}

/**
 * Executes a run in this process immediately, without the queue. It is in the store like any other run: other processes can
 * follow its events, answer its questions and cancel it.
 */
export async function runInProcess(
  context: WorkContext,
  { id = createUlidGenerator(context.clock)(), spec, inputs, checks, onRun }: InProcessRun,
): Promise<RunResult> {
  const { store, clock, leaseMs } = context;
  const workerId = `here/${id}`;
  const claim = { id, workerId, leaseMs, now: clock() };
  const created = { ...claim, spec, state: 'running', ...omitUndefined({ checks }) } as const;
  await retryStore(async () => store.createRun(created), context);
  return whileInProgress(workerId, async () => {
    const held = holdClaim(context, { id, workerId });
    try {
      const plan = { id, workerId, spec, lock: undefined, ...omitUndefined({ inputs, onRun }) };
      return await runWithoutOrder(context, plan, held);
    } finally {
      await held.end();
    }
  });
}
