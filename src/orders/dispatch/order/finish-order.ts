import { join } from 'node:path';
import { omitUndefined } from '../../../base/index.js';
import { isPresent, replaceFile } from '../../../base/files/index.js';
import type { WorkerEnd } from '../../lead/settle.js';
import { STREAM_BYTES } from '../../reading/read-work-result.js';
import { RESULT_FILES } from '../../reading/result-file.js';
import type { OrderRecord, RunResult, WorkOrder } from '../../../store/records/index.js';
import { readLastAttempt, getRunFolderPath } from '../../../runs/run-folder/index.js';
import type { HeldClaim } from '../hold-claim.js';
import { publishCommit } from './order-repository.js';
import { retryStore } from '../retry-store.js';
import type { WorkContext } from '../worker-options.js';
import { collectResult } from './collect-result.js';
import type { PackFile } from './inject-order.js';
import { getOwnBranch, leaveRepository } from '../../git/own-branch.js';
import { commitLeftovers } from '../../git/commit-leftovers.js';
import { prove } from './prove.js';
import type { RepositoryStart, UnknownStart } from '../../git/repository.js';
import type { ExecuteCheck } from './run-checks.js';
import { removeWorktree } from '../../git/worktree.js';
import type { Worktree } from '../../git/worktree.js';

/** Used for a process that never started or whose exit is unknown. */
export const EXIT_UNKNOWN = { exitCode: null, signal: null } as const;

/** An order being executed, its worktree, and the repository's state before the run. */
export interface RunningOrder {
  readonly record: OrderRecord;
  readonly worktree: Worktree | undefined;
  readonly start: RepositoryStart | UnknownStart;
  /** When it was started, by this host's clock; absent if another worker started it. */
  readonly localStart?: number;
}

/** Settles an order. Retries while the store is unavailable, so no result is lost; settling twice is harmless. */
export async function settleOrder(context: WorkContext, order: WorkOrder, end: WorkerEnd): Promise<void> {
  const { issue_ref: issueRef, run_id: runId } = order;
  await retryStore(async () => context.lead.settle({ issueRef, runId, ...end }), context);
}

/**
 * Completes an order after its agent has exited: reads and proves the result, publishes the commit, removes the
 * worktree, settles.
 */
export async function finishOrder(
  context: WorkContext,
  { record, worktree, start, localStart: filesSince }: RunningOrder,
  result: RunResult,
  { claim, executeCheck }: { readonly claim: HeldClaim; readonly executeCheck: ExecuteCheck },
): Promise<void> {
  const { lead, runs } = context;
  const { order, run: id } = record;
  const end = { ...(await readWorkerEnd(runs.data, id, result)), ...omitUndefined({ filesSince }) };
  const reading = await retryStore(
    async () => lead.read({ issueRef: order.issue_ref, runId: order.run_id, ...end }),
    context,
  );
  const proof = await prove(context, { record, reading, worktree, start }, claim, executeCheck);
  const { isCommitted, ...proven } = proof;
  const published = worktree === undefined ? proven : await publishCommit(context, record, worktree, proven);
  const left =
    worktree === undefined
      ? await leaveRepository(start, getOwnBranch(record, lead.filters))
      : await leaveWorktree(context, { worktree, start, order, isCommitted });
  const note = ['note' in published ? published.note : undefined, left.note].filter(Boolean).join(' ');
  await settleOrder(context, order, { ...end, ...proven, ...published, ...(note === '' ? {} : { note }) });
}

/**
 * Removes the worktree of an order that has ended. Work that was not committed is kept on the worktree's branch first; if
 * it must not be committed, the worktree is kept. Returns a note about where the work is.
 */
export async function leaveWorktree(
  { lead }: Pick<WorkContext, 'lead'>,
  {
    worktree,
    start,
    order,
    isCommitted = false,
  }: Pick<RunningOrder, 'start'> & {
    readonly worktree: Worktree;
    readonly order: WorkOrder;
    readonly isCommitted?: boolean;
  },
): Promise<{ readonly note?: string }> {
  const known = 'why' in start ? undefined : start;
  const removed = await removeWorktree(worktree, { isCommitted, start: known });
  if (removed.note === undefined || isCommitted || 'why' in start) return removed;
  const maskText = (text: string): string => lead.maskText(text);
  const kept = await commitLeftovers({ start, worktree, order, maskText }).catch(() => undefined);
  if (kept?.state !== 'committed') return removed;
  const { note } = await removeWorktree(worktree, { isCommitted: true, start: known });
  const where = `Its uncommitted work is in commit ${kept.commit.slice(0, 12)} on the branch ${worktree.branch}.`;
  return { note: note === undefined ? where : `${where} ${note}` };
}

/** Collects the agent's result from its file or answer, its output, and its process exit. */
async function readWorkerEnd(data: string, id: string, result: RunResult): Promise<WorkerEnd> {
  const runDir = getRunFolderPath(data, id);
  const { file, ...rejected } = collectResult(result);
  if (file !== undefined) await writeUnlessPresent(data, runDir, file);
  const { stdout, stderr } = await readLastAttempt(runDir, STREAM_BYTES, { trustedRoot: data });
  return { ...readExit(result), stdout, stderr, runResult: result, ...rejected };
}

/** Writes a result file, unless the agent wrote one itself. */
async function writeUnlessPresent(data: string, runDir: string, file: PackFile): Promise<void> {
  for (const name of RESULT_FILES) {
    if (await isPresent(join(runDir, name))) return;
  }
  await replaceFile(join(runDir, file.path), file.text, { trustedRoot: data, isDurable: false });
}

/** Returns how the agent's process exited, as recorded by the run. */
export function readExit(result: RunResult): WorkerEnd {
  const { process: processExit, error, status } = result;
  if (processExit === undefined) {
    const startError = error?.message ?? `the run ended as ${status} before its process started`;
    return { ...EXIT_UNKNOWN, startError };
  }
  const { exit_code, signal, command, version } = processExit;
  // A process that Sluice stopped can still exit with 0: it counts as stopped.
  const wasStopped = error?.category === 'canceled' || error?.category === 'timeout' || error?.category === 'limit';
  return {
    // The run has terminated all of the agent's processes.
    hasEnded: true,
    exitCode: wasStopped ? null : exit_code,
    signal: wasStopped ? (signal ?? 'SIGTERM') : signal,
    command,
    workerVersion: version,
    // A category `process` adds nothing to exit code and signal.
    ...(error === undefined || error.category === 'process' ? {} : { runError: error.message }),
  };
}
