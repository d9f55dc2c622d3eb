import type { ClaimedRun } from '../../store/ports/index.js';
import { holdClaim, type HeldClaim } from './hold-claim.js';
import { runSpecSchema } from '../../store/records/index.js';
import type { OrderRecord, RunRecord, RunSpec, WorkOrder } from '../../store/records/index.js';
import { EXIT_UNKNOWN, settleOrder, finishOrder } from './order/finish-order.js';
import { retryStore } from './retry-store.js';
import { acquireFolder, CANCELED_BEFORE_START, endRun, isDetached, runToEnd, runWithoutOrder } from './run-to-end.js';
import type { BudgetedRun, BudgetOutcome, WorkContext } from './worker-options.js';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage, omitUndefined } from '../../base/index.js';
import { isWithin, makeFolder, makeFolderBelow, replaceFile } from '../../base/files/index.js';
import { chooseIsolation, createWorktree, getWorktree, removeWorktree, type Worktree } from '../git/worktree.js';
import type { WorkerEnd } from '../lead/settle.js';
import { findWrapper } from '../wrappers/wrappers.js';
import { getRunFolderPath } from '../../runs/run-folder/index.js';
import { listLaunchers, lockFile } from '../../runs/index.js';
import { fetchOrderRepository, type LocatedOrder } from './order/order-repository.js';
import { type Injection, injectOrder } from './order/inject-order.js';
import { hasPointers } from '../git/git-lfs.js';
import { findCommit } from '../git/run-git.js';
import { enterRepository, getOwnBranch, leaveRepository } from '../git/own-branch.js';
import { recordStart, serializeStart, withObjects } from '../git/repository.js';
import type { RepositoryStart, UnknownStart } from '../git/repository.js';

/** Executes a claimed run and the order it carries, if any. */
export async function executeRun(context: WorkContext, claimed: ClaimedRun, workerId: string): Promise<void> {
  const { record, order } = claimed;
  const { id } = record;
  // Only a run that was waiting, and whose session was saved, is queued again after its start.
  const isMoved = record.started_at !== null;
  // Before its requests are read: it waits again, and an answer might have been posted.
  if (isMoved) await retryStore(async () => context.store.setWaiting({ id, workerId, now: context.clock() }), context);
  const claim = holdClaim(context, { id, workerId });
  try {
    const outcome = claimed.unresolved.length > 0 ? NO_BUDGET : await requestBudget(context, record);
    // A moved run has its share of the budgets.
    if (outcome.status === 'wait' && !isMoved) {
      const { store, clock, wakeAt } = context;
      await store.releaseRun({ id, workerId, now: clock(), retryAt: outcome.retryAt });
      wakeAt?.(outcome.retryAt);
      return;
    }
    if (outcome.status === 'refused' && order !== null && !isMoved) {
      return await settleOrder(context, order.order, { ...EXIT_UNKNOWN, startError: outcome.message });
    }
    const budgeted = withBudget(context, outcome);
    if (order === null) await executePlainRun(budgeted, record, { workerId, claim, isMoved });
    else {
      await traceOrder(budgeted, claimed.record.spec.traceparent, order, async (inside) =>
        executeOrder(inside, order, claimed.unresolved, { workerId, claim, isMoved }),
      );
    }
  } finally {
    await claim.end();
  }
}

/** Executes an order inside a span, which ends with the decision. `callerSpan` is its parent, as a `traceparent`. */
async function traceOrder(
  context: WorkContext,
  callerSpan: string | undefined,
  { order, run }: OrderRecord,
  execute: (context: WorkContext) => Promise<void>,
): Promise<void> {
  const { issue_ref, run_id, worker } = order;
  const trace = context.runs.tracer?.startOrder({ issue_ref, run_id, worker, run, traceparent: callerSpan });
  try {
    await execute({ ...context, traceparent: trace?.traceparent ?? callerSpan });
  } finally {
    if (trace !== undefined) {
      const settled = await context.store.findOrder(issue_ref, run_id).catch(() => undefined);
      trace.end(settled?.decision ?? undefined);
    }
  }
}

async function requestBudget(context: WorkContext, run: BudgetedRun): Promise<BudgetOutcome> {
  return (await context.requestBudget?.(run, context.signal)) ?? NO_BUDGET;
}

const NO_BUDGET: BudgetOutcome = { status: 'granted' };

function withBudget(context: WorkContext, outcome: BudgetOutcome): WorkContext {
  if (outcome.status !== 'granted' || outcome.budget === undefined) return context;
  return { ...context, runs: { ...context.runs, budget: outcome.budget } };
}

async function executePlainRun(
  context: WorkContext,
  { id, spec }: ClaimedRun['record'],
  { workerId, claim, isMoved = false }: Execution,
): Promise<void> {
  const { leavesWaiting: ownsFolder = false } = context;
  const moved = isMoved ? { isMoved, ownsFolder, resumedFrom: 'waiting' as const } : {};
  const lock = await acquireFolder(context, { id, workerId }, spec.workdir);
  if (lock === 'busy') return;
  try {
    await runWithoutOrder(context, { id, workerId, spec, lock, mayDetach: true, ...moved }, claim);
  } finally {
    await lock?.release();
  }
}

/** Continues a run whose worker is gone, after its claim was taken over. */
export async function resumeAdopted(worker: WorkContext, record: RunRecord, workerId: string): Promise<void> {
  const { id, spec, state: resumedFrom } = record;
  const claim = holdClaim(worker, { id, workerId });
  try {
    // It reserved its share of the budgets when it started; further usage is still counted.
    const context = withBudget(worker, await requestBudget(worker, record));
    if (record.order !== null) return await resumeOrder(context, record, { workerId, claim });
    const run = { id, workerId, spec, lock: undefined, resumedFrom, mayDetach: true };
    await endRun(context, run, await runToEnd(context, run, claim));
  } finally {
    await claim.end();
  }
}

/** The claim under which a run is executed. */
interface Execution {
  readonly workerId: string;
  readonly claim: HeldClaim;
  /** Whether it was waiting for an answer on another host. */
  readonly isMoved?: boolean;
}

/**
 * Executes a claimed order: prepares its run folder, runs its agent, and settles it with the outcome. If the claim is lost
 * before the process starts, nothing is changed.
 */
async function executeOrder(
  context: WorkContext,
  submitted: OrderRecord,
  unresolved: readonly string[],
  { workerId, claim, isMoved = false }: Execution,
): Promise<void> {
  const { run: id } = submitted;
  const { store, lead, clock, signal, runs } = context;
  const settle = async (end: WorkerEnd) => settleOrder(context, submitted.order, end);

  if (unresolved.length > 0) return settle({ ...EXIT_UNKNOWN, unresolved });
  const located = await fetchOrderRepository(context, submitted);
  const { record } = located;
  const { order } = record;
  const worktree = await chooseWorktree(context, record);
  const lock = worktree === undefined ? await acquireFolder(context, { id, workerId }, order.repo_dir) : undefined;
  if (lock === 'busy') return;
  let leave: (() => Promise<unknown>) | undefined;
  // Another attempt at the same order would use the same worktree: only the one with the claim may replace it.
  const own =
    worktree === undefined
      ? undefined
      : await lockFile(join(runs.data, 'locks'), `${worktree.folder}.order`, { signal: claim.stop }).catch(
          () => undefined,
        );
  try {
    // No other worker gets a run before its lease has expired, so a claim this young need not be asked for.
    if (!(await claim.confirm(context.leaseMs / 10))) return;
    // Recorded before the agent can change anything.
    const recorded = await recordStart(order.repo_dir);
    const moved = isMoved ? { start_commit: await findStartCommit(context, id) } : order;
    const chosen = order.isolation === 'current-branch' ? recorded : await chooseStart(recorded, moved);
    const branch = getOwnBranch(record, lead.filters);
    const entered = worktree === undefined && !('why' in chosen) ? await enterRepository(chosen, branch) : chosen;
    const start = 'error' in entered ? chosen : entered;
    leave = async () => leaveRepository(start, branch);
    const refusal = 'error' in entered ? entered.error : 'why' in entered ? entered.refusal : undefined;
    const prepared: Prepared =
      refusal === undefined ? await prepareOrder(context, located, worktree, start) : { startError: refusal };
    const spec = 'spec' in prepared ? await completeSpec(context, order, prepared.spec) : undefined;
    if (signal.aborted) return void (await store.releaseRun({ id, workerId, now: clock(), retryAt: clock() }));
    const baseCommit = 'why' in start ? undefined : start.head;
    // Another worker can resume an order whose agent can wait for a human.
    const canAsk = spec?.permissions === 'ask' || spec?.mode === 'interactive';
    const repositoryStart = canAsk ? serializeStart(start) : undefined;
    const recordedStart = omitUndefined({ spec, baseCommit, repositoryStart });
    const localStart = Date.now();
    const started = await retryStore(
      async () => store.markStarted({ id, workerId, now: clock(), ...recordedStart }),
      context,
    );
    if (started === 'lost') return;
    if (started === 'canceled') {
      await removeWorktree(worktree);
      return await settle({ ...EXIT_UNKNOWN, canceled: true, runResult: CANCELED_BEFORE_START });
    }
    if (spec === undefined || 'startError' in prepared) return await settle({ ...EXIT_UNKNOWN, ...prepared });
    const mayDetach = repositoryStart !== undefined;
    const { env } = prepared;
    // It was asked to work in the repository itself, which can be a linked worktree.
    const { roots } = runs.sandbox ?? {};
    const commits =
      worktree === undefined &&
      !('why' in start) &&
      (roots === undefined || roots.some((root) => isWithin(root, start.objects)));
    const sandbox = { ...prepared.sandbox, commits };
    const found = isMoved ? { isMoved, ownsFolder: worktree !== undefined, resumedFrom: 'waiting' as const } : {};
    const findObstacle = createObstacleFinder(worktree, start);
    const run = { id, workerId, spec, env, sandbox, lock, mayDetach, findObstacle, ...found };
    const result = await runToEnd(context, run, claim);
    if (isDetached(result)) return void (leave = undefined);
    const since = isMoved ? {} : { localStart };
    await finishOrder(context, { record, worktree, start, ...since }, result, claim);
  } finally {
    await leave?.();
    await lock?.release();
    await own?.release();
  }
}

/** Returns the commit that an order started from on another host. */
async function findStartCommit(context: WorkContext, id: string): Promise<string | undefined> {
  const stored = await retryStore(async () => context.store.findRepositoryStart(id), context);
  const start = stored === undefined ? undefined : (JSON.parse(stored) as RepositoryStart | UnknownStart);
  return start === undefined || 'why' in start ? undefined : start.head;
}

/** Creates the check whether another host could go on with an order: changed files can be moved, commits cannot. */
function createObstacleFinder(worktree: Worktree | undefined, start: RepositoryStart | UnknownStart) {
  return async (): Promise<string | undefined> => {
    if (worktree === undefined || 'why' in start) return 'its order works in the repository itself';
    const now = await recordStart(worktree.folder);
    return 'why' in now || now.head !== start.head ? 'the agent has made commits' : undefined;
  };
}

/** Chooses where an order's work starts: a retry continues from the reviewed commit, if it still exists. */
async function chooseStart(
  start: RepositoryStart | UnknownStart,
  { start_commit: reviewed }: { readonly start_commit?: WorkOrder['start_commit'] | undefined },
): Promise<RepositoryStart | UnknownStart> {
  if (reviewed === undefined || 'why' in start) return start;
  const head = await withObjects(start, async (call) => findCommit(call, reviewed));
  return head === undefined ? start : { ...start, head };
}

/** Returns an order's worktree, or undefined if it works in the repository itself. */
async function chooseWorktree({ lead, runs }: WorkContext, { order, run }: OrderRecord): Promise<Worktree | undefined> {
  return (await chooseIsolation(order)) === 'worktree' ? getWorktree(runs.data, order, run, lead.filters) : undefined;
}

/** Returns the folder an agent works in, or undefined for `repo_dir`; that can be below the top of its repository. */
function getWorkFolder(worktree: Worktree | undefined, start: RepositoryStart | UnknownStart): string | undefined {
  return worktree === undefined ? undefined : join(worktree.folder, 'why' in start ? '' : start.prefix);
}

/**
 * Makes the order's span the parent of its run's span, and lets a retry continue in the reviewed run's session: only on
 * the host that has the session, with the same engine, and only if that engine can resume.
 */
async function completeSpec(
  context: WorkContext,
  { start_run: reviewedRun }: WorkOrder,
  prepared: RunSpec,
): Promise<RunSpec> {
  const spec = { ...prepared, ...omitUndefined({ traceparent: context.traceparent }) };
  if (reviewedRun === undefined) return spec;
  const reviewed = await retryStore(async () => context.store.findRun(reviewedRun), context);
  const session = reviewed?.result?.session_id ?? '';
  const isOnThisHost = reviewed?.owner?.host === hostname() && reviewed.spec.engine === spec.engine;
  const canResume = listLaunchers(context.runs.agents)[spec.engine]?.canResume === true;
  return isOnThisHost && canResume && SESSION.test(session) ? { ...spec, session } : spec;
}

/** The format of a session id in a spec. */
const SESSION = new RegExp(runSpecSchema.properties.session.pattern);

const POINTERS = 'the worktree has Git LFS pointers instead of files; add "lfs" to git.filters to get the files';

/** Everything the agent needs to start, or why it cannot. */
type Prepared = Injection | { readonly startError: string };

/** Prepares everything the agent needs to start; returns a message if that fails. */
async function prepareOrder(
  { lead, runs, logger }: WorkContext,
  { record: { order, run }, startError }: LocatedOrder,
  worktree: Worktree | undefined,
  start: RepositoryStart | UnknownStart,
): Promise<Prepared> {
  if (startError !== undefined) return { startError };
  try {
    const runDir = getRunFolderPath(runs.data, run);
    const wrapper = findWrapper(order.worker, lead.wrappers);
    const injection = injectOrder(wrapper, order, runDir, getWorkFolder(worktree, start));
    if (worktree !== undefined) {
      const { error } = await createWorktree(worktree, 'why' in start ? undefined : start);
      if (error !== undefined) return { startError: error };
      if (await hasPointers(worktree.folder, lead.filters))
        logger.warn(POINTERS, { run_id: run, repo: order.repo ?? order.repo_dir });
    }
    await makeFolder(runs.data);
    await makeFolderBelow(runDir, runs.data);
    // Each file is written completely or not at all. It need not survive a power failure: the agent does not either.
    const options = { trustedRoot: runs.data, isDurable: false };
    await Promise.all(injection.files.map(async ({ path, text }) => replaceFile(join(runDir, path), text, options)));
    return injection;
  } catch (error) {
    return { startError: getErrorMessage(error) };
  }
}

/** Resumes an order that is waiting for a human and whose worker is gone, after its claim was taken over. */
async function resumeOrder(
  context: WorkContext,
  { id, spec: stored, state: resumedFrom, order: name }: RunRecord,
  { workerId, claim }: Execution,
): Promise<void> {
  const { store, lead, runs } = context;
  const record = await retryStore(
    async () => (name === null ? undefined : store.findOrder(name.issue_ref, name.run_id)),
    context,
  );
  const recorded = await retryStore(async () => store.findRepositoryStart(id), context);
  if (record === undefined || recorded === undefined) return;
  const start = JSON.parse(recorded) as RepositoryStart | UnknownStart;
  const { order } = record;
  const worktree = await chooseWorktree(context, record);
  let injection: Injection;
  try {
    const wrapper = findWrapper(order.worker, lead.wrappers);
    injection = injectOrder(wrapper, order, getRunFolderPath(runs.data, id), getWorkFolder(worktree, start));
  } catch (error) {
    // The configuration has changed since: a human decides.
    return settleOrder(context, order, { ...EXIT_UNKNOWN, startError: getErrorMessage(error) });
  }
  const { env, sandbox } = injection;
  const spec = { ...stored, ...omitUndefined({ prompt: injection.spec.prompt }) };
  const findObstacle = createObstacleFinder(worktree, start);
  const run = { id, workerId, spec, env, sandbox, lock: undefined, resumedFrom, mayDetach: true, findObstacle };
  const result = await runToEnd(context, run, claim);
  if (!isDetached(result)) await finishOrder(context, { record, worktree, start }, result, claim);
}
