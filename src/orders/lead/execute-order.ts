import { readLastAttempt } from '../../runs/run-folder/read-last-attempt.js';
import type { RunResult } from '../../runs/result/run-result.js';
import type { RunSpec } from '../../runs/spec/run-spec.js';
import type { OrderRecord } from '../ports/order-record.js';
import type { ClaimedOrder } from '../ports/order-store.js';
import { STREAM_BYTES } from '../reading/read-streams.js';
import { RESULT_FILES } from '../reading/result-file.js';
import { collectResult } from '../wrappers/collect.js';
import { injectionOf } from '../wrappers/injection.js';
import type { Injection } from '../wrappers/injection.js';
import { wrapperOf } from '../wrappers/read-wrappers.js';
import { whileInProgress } from './claims-in-progress.js';
import type { LeadContext } from './lead-context.js';
import { keepAbsentFile, writePackFiles } from './run-folder-files.js';
import { settle } from './settle.js';
import type { OrderName, Settlement, WorkerEnd } from './settle.js';
import { untilDone } from './until-done.js';
import { watchHold } from './watch-hold.js';
import { createWorktree, keptNote, removeWorktree } from './worktree.js';
import type { Worktree } from './worktree.js';
import { worktreeOf } from './worktree-of.js';

/** A run under way, as far as an order needs it. */
export interface OrderRun {
  readonly result: Promise<RunResult>;
  cancel(): unknown;
}

/** What doing an order needs beside the lead. */
export interface ExecutionPorts {
  /** The name under which the order was claimed. */
  readonly workerId: string;
  readonly leaseMs: number;
  /** Starts the worker: the run `id`, with these variables beside those its spec names. */
  readonly startRun: (run: {
    readonly id: string;
    readonly spec: RunSpec;
    readonly env: Readonly<Record<string, string>>;
    readonly record: OrderRecord;
  }) => Promise<OrderRun> | OrderRun;
  /** Stops the worker when it is aborted; the order is settled all the same. */
  readonly signal?: AbortSignal;
}

/**
 * Does a claimed order: prepares its run folder, runs its worker, settles what came of it. Undefined if the claim was
 * lost before the worker started; then nothing has happened.
 */
export async function executeOrder(
  context: LeadContext,
  claimed: ClaimedOrder,
  ports: ExecutionPorts,
): Promise<Settlement | undefined> {
  const { record, unresolved } = claimed;
  const { order } = record;
  const { store, clock, logger } = context;
  const hold = { issueRef: order.issue_ref, runId: order.run_id, workerId: ports.workerId };
  const worktree = worktreeOf(context.data, order, record.run_ulid);
  return whileInProgress(ports.workerId, async () => {
    const watch = watchHold({ context, hold, leaseMs: ports.leaseMs, signal: ports.signal });
    try {
      const prepared = unresolved.length > 0 ? { unresolved } : await prepare(context, record, worktree);
      // Who has no more time leaves it to others: the claim is free when its lease ends.
      if (ports.signal?.aborted === true) return undefined;
      // Nothing is settled that somebody else may hold by now: this is where the claim is either kept or lost.
      const mayStart = await store.startOrder({ ...hold, now: clock(), pid: null, pidStarted: null });
      if (!mayStart) {
        await clearAway(context, hold, worktree);
        return undefined;
      }
      const how = 'spec' in prepared ? await work(context, record, prepared, ports.startRun, watch.stop) : prepared;
      const isKept = worktree !== undefined && (await removeWorktree(worktree)) === 'kept';
      const note = isKept ? { note: keptNote(worktree) } : {};
      // A result must not be lost to a store that is out of reach for a moment; to settle twice is harmless.
      const settleOnce = async () => settle(context, { ...hold, ...NOT_SEEN, ...how, ...note });
      return await untilDone(settleOnce, { logger, signal: ports.signal });
    } finally {
      await watch.end();
    }
  });
}

/** How a worker ended whose end nobody saw, also because it never began. */
const NOT_SEEN = { exitCode: null, signal: null } as const;

/** Takes the worktree of an order away that was replaced before it began; of one that somebody else took over it is theirs. */
async function clearAway(
  { store }: LeadContext,
  { issueRef, runId }: OrderName,
  worktree: Worktree | undefined,
): Promise<void> {
  const record = worktree === undefined ? undefined : await store.findOrder(issueRef, runId);
  if (worktree !== undefined && record?.state === 'canceled') await removeWorktree(worktree);
}

/** Everything that must be there before the worker starts; a message if something cannot be. */
async function prepare(
  context: LeadContext,
  { order, run_ulid }: OrderRecord,
  worktree: Worktree | undefined,
): Promise<Injection | { readonly startError: string }> {
  try {
    const runDir = context.runFolderOf(run_ulid);
    const wrapper = wrapperOf(order.worker, context.wrappers);
    const injection = injectionOf(wrapper, order, runDir, worktree?.folder ?? order.repo_dir);
    if (worktree !== undefined) {
      const { error } = await createWorktree(worktree);
      if (error !== undefined) return { startError: error };
    }
    await writePackFiles(runDir, injection.files);
    return injection;
  } catch (error) {
    return { startError: messageOf(error) };
  }
}

/** Runs the worker to its end, for as long as the order is held. */
async function work(
  context: LeadContext,
  record: OrderRecord,
  { spec, env }: Injection,
  startRun: ExecutionPorts['startRun'],
  stop: AbortSignal,
): Promise<WorkerEnd> {
  let run: OrderRun;
  try {
    run = await startRun({ id: record.run_ulid, spec, env, record });
  } catch (error) {
    return { ...NOT_SEEN, startError: messageOf(error) };
  }
  const cancel = () => void run.cancel();
  if (stop.aborted) cancel();
  stop.addEventListener('abort', cancel, { once: true });
  const result = await run.result;
  stop.removeEventListener('abort', cancel);
  const runDir = context.runFolderOf(record.run_ulid);
  const { file, draft } = collectResult(result);
  if (file !== undefined) await keepAbsentFile(runDir, file, RESULT_FILES);
  const { stdout, stderr } = await readLastAttempt(runDir, STREAM_BYTES);
  return { ...endOf(result), stdout, stderr, ...(draft === undefined ? {} : { draft }) };
}

/** How the worker's process ended, as the run saw it. */
function endOf({ process: ended, error, status }: RunResult): WorkerEnd {
  if (ended === undefined) {
    return { ...NOT_SEEN, startError: error?.message ?? `the run ended as ${status} before its process began` };
  }
  const { exit_code, signal, command, version } = ended;
  // A worker that Sluice stopped may still exit with 0: it was stopped all the same.
  const wasStopped = error?.category === 'canceled' || error?.category === 'timeout' || error?.category === 'limit';
  return {
    exitCode: wasStopped ? null : exit_code,
    signal: wasStopped ? (signal ?? 'SIGTERM') : signal,
    command,
    workerVersion: version,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
