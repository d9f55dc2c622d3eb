import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage, omitUndefined } from '../../base/index.js';
import { makeFolder, makeFolderBelow, replaceFile } from '../../files/index.js';
import { chooseIsolation, findWrapper } from '../../orders/index.js';
import type { WorkerEnd } from '../../orders/index.js';
import { runSpecSchema } from '../../records/index.js';
import type { OrderRecord, RunSpec, WorkOrder } from '../../records/index.js';
import { getRunFolderPath } from '../../run-folder/index.js';
import { listLaunchers } from '../../runs/index.js';
import { acquireFolder, CANCELED_BEFORE_START, isDetached, runToEnd } from '../run-to-end.js';
import type { HeldClaim } from '../hold-claim.js';
import { fetchOrderRepository } from '../repos/order-repository.js';
import type { LocatedOrder } from '../repos/order-repository.js';
import { retryStore } from '../retry-store.js';
import type { WorkContext } from '../worker-options.js';
import { EXIT_UNKNOWN, finishOrder, settleOrder } from './finish-order.js';
import type { Injection } from './inject-order.js';
import { injectOrder } from './inject-order.js';
import { hasPointers } from './git-lfs.js';
import { createWorktree, getWorktree, removeWorktree } from './worktree.js';
import type { Worktree } from './worktree.js';
import { recordStart, serializeStart, withObjects } from './proof/repository.js';
import type { RepositoryStart } from './proof/repository.js';
import type { ExecuteCheck } from './proof/run-checks.js';

/** A claimed order and its unresolved dependencies. */
export interface ClaimedOrder {
  readonly record: OrderRecord;
  readonly unresolved: readonly string[];
}

/** The claim under which an order is executed, and the function that executes its checks. */
export interface OrderExecution {
  readonly workerId: string;
  readonly claim: HeldClaim;
  readonly executeCheck: ExecuteCheck;
}

/**
 * Executes a claimed order: prepares its run folder, runs its agent, and settles it with the outcome. If the claim is lost
 * before the process starts, nothing is changed.
 */
export async function executeOrder(
  context: WorkContext,
  { record: submitted, unresolved }: ClaimedOrder,
  { workerId, claim, executeCheck }: OrderExecution,
): Promise<void> {
  const { run: id } = submitted;
  const { store, clock, signal } = context;
  const settle = async (end: WorkerEnd) => settleOrder(context, submitted.order, end);

  if (unresolved.length > 0) return settle({ ...EXIT_UNKNOWN, unresolved });
  const located = await fetchOrderRepository(context, submitted);
  const { record } = located;
  const { order } = record;
  const worktree = await chooseWorktree(context, record);
  const lock = worktree === undefined ? await acquireFolder(context, { id, workerId }, order.repo_dir) : undefined;
  if (lock === 'busy') return;
  try {
    // Recorded before the agent can change anything.
    const start = await chooseStart(await recordStart(order.repo_dir), worktree === undefined ? undefined : order);
    const prepared = addTraceparent(
      await resumeSession(context, order, await prepareOrder(context, located, worktree, start)),
      context.traceparent,
    );
    if (signal.aborted) return void (await store.releaseRun({ id, workerId, now: clock(), retryAt: clock() }));
    const spec = 'spec' in prepared ? { spec: prepared.spec } : {};
    const base = 'why' in start || start.isEmpty ? {} : { baseCommit: start.head };
    const repositoryStart = 'spec' in prepared && canAsk(prepared.spec) ? serializeStart(start) : undefined;
    const localStart = Date.now();
    const started = await retryStore(
      async () =>
        store.markStarted({ id, workerId, now: clock(), ...spec, ...base, ...omitUndefined({ repositoryStart }) }),
      context,
    );
    if (started === 'lost') return;
    if (started === 'canceled') {
      await removeWorktree(worktree);
      return await settle({ ...EXIT_UNKNOWN, canceled: true, runResult: CANCELED_BEFORE_START });
    }
    if (!('spec' in prepared)) return await settle({ ...EXIT_UNKNOWN, ...prepared });
    const mayDetach = repositoryStart !== undefined;
    const run = { id, workerId, spec: prepared.spec, env: prepared.env, lock, mayDetach };
    const result = await runToEnd(context, run, claim);
    if (isDetached(result)) return;
    await finishOrder(context, { record, worktree, start, localStart }, result, { claim, executeCheck });
  } finally {
    await lock?.release();
  }
}

/** Makes the order's span the parent of its run's span. */
function addTraceparent<T extends Injection | { readonly startError: string }>(
  prepared: T,
  traceparent: string | undefined,
): T {
  if (traceparent === undefined || !('spec' in prepared)) return prepared;
  return { ...prepared, spec: { ...prepared.spec, traceparent } };
}

/** Whether the agent can wait for a human. If so, another worker can resume the order. */
function canAsk({ permissions, mode }: RunSpec): boolean {
  return permissions === 'ask' || mode === 'interactive';
}

/**
 * Chooses where an order's work starts: a retry in a worktree continues from the reviewed commit, if it still exists.
 */
async function chooseStart(
  start: RepositoryStart | { readonly why: string },
  order: Pick<WorkOrder, 'start_commit'> | undefined,
): Promise<RepositoryStart | { readonly why: string }> {
  const reviewed = order?.start_commit;
  if (reviewed === undefined || 'why' in start) return start;
  const lookup = await withObjects(start, async (call) =>
    call(['rev-parse', '--quiet', '--verify', `${reviewed}^{commit}`]),
  );
  return lookup.code === 0 ? { ...start, head: lookup.stdout.trim() } : start;
}

/** Returns an order's worktree, or undefined if it works in the repository itself. */
export async function chooseWorktree(
  { lead, runs }: WorkContext,
  { order, run }: OrderRecord,
): Promise<Worktree | undefined> {
  let type = '';
  try {
    ({ type } = findWrapper(order.worker, lead.wrappers));
  } catch {
    // `prepareOrder` reports the error.
  }
  return (await chooseIsolation(order, { type })) === 'worktree'
    ? getWorktree(runs.data, order, run, lead.filters)
    : undefined;
}

/**
 * Lets a retry continue in the reviewed run's session: only on the host that has the session, with the same engine, and
 * only if that engine can resume.
 */
async function resumeSession<T extends Injection | { readonly startError: string }>(
  context: WorkContext,
  { start_run: reviewedRun }: WorkOrder,
  prepared: T,
): Promise<T> {
  if (reviewedRun === undefined || !('spec' in prepared)) return prepared;
  const { spec } = prepared;
  const reviewed = await retryStore(async () => context.store.findRun(reviewedRun), context);
  const session = reviewed?.result?.session_id;
  const isOnThisHost = reviewed?.owner?.host === hostname() && reviewed.spec.engine === spec.engine;
  const canResume = listLaunchers(context.runs.agents)[spec.engine]?.canResume === true;
  if (!isOnThisHost || !canResume || session === undefined || session === null || !SESSION.test(session))
    return prepared;
  return { ...prepared, spec: { ...spec, session } };
}

/** The format of a session id in a spec. */
const SESSION = new RegExp(runSpecSchema.properties.session.pattern);

const POINTERS = 'the worktree has Git LFS pointers instead of files; add "lfs" to git.filters to get the files';

/** Prepares everything the agent needs to start; returns a message if that fails. */
async function prepareOrder(
  { lead, runs, logger }: WorkContext,
  { record: { order, run }, startError }: LocatedOrder,
  worktree: Worktree | undefined,
  start: RepositoryStart | { readonly why: string },
): Promise<Injection | { readonly startError: string }> {
  if (startError !== undefined) return { startError };
  try {
    const runDir = getRunFolderPath(runs.data, run);
    const wrapper = findWrapper(order.worker, lead.wrappers);
    const injection = injectOrder(wrapper, order, runDir, worktree?.folder);
    if (worktree !== undefined) {
      const { error } = await createWorktree(worktree, 'why' in start || start.isEmpty ? undefined : start);
      if (error !== undefined) return { startError: error };
      if (await hasPointers(worktree)) logger.warn(POINTERS, { run_id: run, repo: order.repo ?? order.repo_dir });
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
