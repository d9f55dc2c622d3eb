import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { isPresent, makeFolder, replaceFile } from '../../files/index.js';
import { chooseIsolation, findWrapper, RESULT_FILES, STREAM_BYTES } from '../../orders/index.js';
import type { WorkerEnd } from '../../orders/index.js';
import { runSpecSchema } from '../../records/index.js';
import type { OrderRecord, RunResult, WorkOrder } from '../../records/index.js';
import { readLastAttempt, runFolderPath } from '../../run-folder/index.js';
import { listLaunchers } from '../../runs/index.js';
import { acquireFolder, CANCELED_BEFORE_START, runToEnd } from '../run-to-end.js';
import type { HeldClaim } from '../hold-claim.js';
import { retryStore } from '../retry-store.js';
import type { WorkContext } from '../worker-options.js';
import { collectResult } from './collect-result.js';
import type { PackFile, Injection } from './inject-order.js';
import { injectOrder } from './inject-order.js';
import { createWorktree, findWorktree, putAwayWorktree } from './worktree.js';
import type { Worktree } from './worktree.js';
import { prove } from './proof/prove.js';
import { recordStart, withObjects } from './proof/repository.js';
import type { RepositoryStart } from './proof/repository.js';
import type { ExecuteCheck } from './proof/run-checks.js';

/** A claimed order, and the issues it depends on that are not resolved. */
export interface ClaimedOrder {
  readonly record: OrderRecord;
  readonly unresolved: readonly string[];
}

/** Under which claim an order is executed, and how its checks are. */
export interface OrderHold {
  readonly workerId: string;
  readonly claim: HeldClaim;
  readonly executeCheck: ExecuteCheck;
}

/** How a process ended that was not seen to end, also because it never started. */
export const EXIT_UNKNOWN = { exitCode: null, signal: null } as const;

/**
 * Executes a claimed order: prepares its run folder, runs its agent, and settles it with the outcome. Where the claim
 * is lost before the process starts, nothing has happened.
 */
export async function executeOrder(
  context: WorkContext,
  { record, unresolved }: ClaimedOrder,
  { workerId, claim, executeCheck }: OrderHold,
): Promise<void> {
  const { order, run: id } = record;
  const { store, lead, clock, runs, signal } = context;
  const settle = async (end: WorkerEnd) =>
    // A result must not be lost to a store that is away for a moment; to settle twice is harmless.
    retryStore(async () => lead.settle({ issueRef: order.issue_ref, runId: order.run_id, ...end }), context);

  if (unresolved.length > 0) return void (await settle({ ...EXIT_UNKNOWN, unresolved }));
  const worktree = await chooseWorktree(context, record);
  const lock = worktree === undefined ? await acquireFolder(context, { id, workerId }, order.repo_dir) : undefined;
  if (lock === 'busy') return;
  try {
    // Before the agent can change anything.
    const start = await beginAt(await recordStart(order.repo_dir), worktree === undefined ? undefined : order);
    const prepared = await resumeSession(context, order, await prepareOrder(context, record, worktree, start));
    if (signal.aborted) return void (await store.releaseRun({ id, workerId, now: clock(), retryAt: clock() }));
    const spec = 'spec' in prepared ? { spec: prepared.spec } : {};
    const base = 'why' in start || start.isEmpty ? {} : { baseCommit: start.head };
    const started = await retryStore(
      async () => store.markStarted({ id, workerId, now: clock(), ...spec, ...base }),
      context,
    );
    if (started === 'lost') return;
    if (started === 'canceled') {
      await putAwayWorktree(worktree);
      return void (await settle({ ...EXIT_UNKNOWN, canceled: true, runResult: CANCELED_BEFORE_START }));
    }
    if (!('spec' in prepared)) return void (await settle({ ...EXIT_UNKNOWN, ...prepared }));
    const result = await runToEnd(context, { id, workerId, spec: prepared.spec, env: prepared.env, lock }, claim);
    const end = await readEnd(runFolderPath(runs.data, id), result);
    const reading = await retryStore(
      async () => lead.read({ issueRef: order.issue_ref, runId: order.run_id, ...end }),
      context,
    );
    const proof = await prove(context, { record, reading, worktree, start }, claim, executeCheck);
    const { isCommitted, ...proven } = proof;
    const note = await putAwayWorktree(worktree, { isCommitted });
    await settle({ ...end, ...proven, ...note });
  } finally {
    await lock?.release();
  }
}

/** Where the work of an order begins: a retry in a worktree continues from the commit that was reviewed, if it is still there. */
async function beginAt(
  start: RepositoryStart | { readonly why: string },
  order: Pick<WorkOrder, 'start_commit'> | undefined,
): Promise<RepositoryStart | { readonly why: string }> {
  const reviewed = order?.start_commit;
  if (reviewed === undefined || 'why' in start) return start;
  const found = await withObjects(start, async (call) =>
    call(['rev-parse', '--quiet', '--verify', `${reviewed}^{commit}`]),
  );
  return found.code === 0 ? { ...start, head: found.stdout.trim() } : start;
}

/** The worktree of an order that works in one, by its request or by default. */
async function chooseWorktree({ lead, runs }: WorkContext, { order, run }: OrderRecord): Promise<Worktree | undefined> {
  let type = '';
  try {
    ({ type } = findWrapper(order.worker, lead.wrappers));
  } catch {
    // Preparing the order says what is wrong.
  }
  return (await chooseIsolation(order, { type })) === 'worktree' ? findWorktree(runs.data, order, run) : undefined;
}

/**
 * Lets a retry continue in the session of the run that was reviewed. Only on the machine that has it, with the same engine, and
 * with one that can resume.
 */
async function resumeSession<T extends Injection | { readonly startError: string }>(
  context: WorkContext,
  { start_run: before }: WorkOrder,
  prepared: T,
): Promise<T> {
  if (before === undefined || !('spec' in prepared)) return prepared;
  const { spec } = prepared;
  const reviewed = await retryStore(async () => context.store.findRun(before), context);
  const session = reviewed?.result?.session_id;
  const isHere = reviewed?.owner?.host === hostname() && reviewed.spec.engine === spec.engine;
  const canResume = listLaunchers(context.runs.agents)[spec.engine]?.canResume === true;
  if (!isHere || !canResume || session === undefined || session === null || !SESSION.test(session)) return prepared;
  return { ...prepared, spec: { ...spec, session } };
}

/** What a spec takes for a session. */
const SESSION = new RegExp(runSpecSchema.properties.session.pattern);

/** Everything that must be in place before the agent starts; a message if something cannot be. */
async function prepareOrder(
  { lead, runs }: WorkContext,
  { order, run }: OrderRecord,
  worktree: Worktree | undefined,
  start: RepositoryStart | { readonly why: string },
): Promise<Injection | { readonly startError: string }> {
  try {
    const runDir = runFolderPath(runs.data, run);
    const wrapper = findWrapper(order.worker, lead.wrappers);
    const injection = injectOrder(wrapper, order, runDir, worktree?.folder);
    if (worktree !== undefined) {
      const { error } = await createWorktree(worktree, 'why' in start || start.isEmpty ? 'HEAD' : start.head);
      if (error !== undefined) return { startError: error };
    }
    await makeFolder(runDir);
    // Each file is there whole or not at all.
    for (const { path, text } of injection.files) await replaceFile(join(runDir, path), text);
    return injection;
  } catch (error) {
    return { startError: getErrorMessage(error) };
  }
}

/** What the agent left: its result as a file or as its answer, what it printed, and how its process ended. */
async function readEnd(runDir: string, result: RunResult): Promise<WorkerEnd> {
  const { file, ...rejected } = collectResult(result);
  if (file !== undefined) await writeUnlessPresent(runDir, file);
  const { stdout, stderr } = await readLastAttempt(runDir, STREAM_BYTES);
  return { ...readExit(result), stdout, stderr, runResult: result, ...rejected };
}

/** A result that the agent wrote itself counts. */
async function writeUnlessPresent(runDir: string, file: PackFile): Promise<void> {
  for (const name of RESULT_FILES) {
    if (await isPresent(join(runDir, name))) return;
  }
  await replaceFile(join(runDir, file.path), file.text);
}

/** How the agent's process ended, as the run saw it. */
function readExit(result: RunResult): WorkerEnd {
  const { process: ended, error, status } = result;
  if (ended === undefined) {
    const startError = error?.message ?? `the run ended as ${status} before its process started`;
    return { ...EXIT_UNKNOWN, startError };
  }
  const { exit_code, signal, command, version } = ended;
  // A process that Sluice stopped may still exit with 0: it was stopped all the same.
  const wasStopped = error?.category === 'canceled' || error?.category === 'timeout' || error?.category === 'limit';
  return {
    exitCode: wasStopped ? null : exit_code,
    signal: wasStopped ? (signal ?? 'SIGTERM') : signal,
    command,
    workerVersion: version,
    // That a process exited or was killed, exit code and signal say already.
    ...(error === undefined || error.category === 'process' ? {} : { runError: error.message }),
  };
}
