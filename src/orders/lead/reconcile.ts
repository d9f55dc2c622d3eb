import { hostname } from 'node:os';
import { join } from 'node:path';
import { endOrphans, getProcessState } from '../../runs/index.js';
import { readLastAttempt } from '../../run-folder/index.js';
import type { OrderRecord } from '../../records/index.js';
import { STREAM_BYTES } from '../reading/read-streams.js';
import { isInProgress } from './claims-in-progress.js';
import { identifyWorker } from './lead-context.js';
import type { LeadContext } from './lead-context.js';
import { NOT_SEEN } from './run-worker.js';
import { settle } from './settle.js';
import { worktreeOf } from './worktree-of.js';
import { putAwayWorktree } from './worktree.js';

/** What was put in order. */
export interface Reconciliation {
  /** Claims whose worker never started: somebody else may take them. */
  readonly requeued: number;
  /** Orders whose lead was gone while their worker ran: a person is asked. */
  readonly settled: number;
  /** Their lease has run out, but who holds them is still there: left alone. */
  readonly waiting: number;
  /** Processes that had outlived their Sluice. */
  readonly ended: number;
}

/**
 * Puts in order what crashed leads left: ends workers that outlived them, puts back claims that never started, and hands
 * orders that nobody saw end to a person, with whatever can be read of their result.
 */
export async function reconcile(context: LeadContext): Promise<Reconciliation> {
  const { store, clock, data, leadId } = context;
  // First of all: an order is over only when its process is gone.
  const ended = await endOrphans(join(data, 'processes'));
  const report = { requeued: 0, settled: 0, waiting: 0, ended: ended.length };
  const left = new Set<string>();
  for (;;) {
    const { requeued, ghosts } = await store.releaseExpired(clock(), await identifyWorker(leadId));
    report.requeued += requeued;
    const fresh = ghosts.filter(({ run }) => !left.has(run));
    if (fresh.length === 0) return report;
    for (const ghost of fresh) left.add(ghost.run);
    const outcomes = await Promise.allSettled(fresh.map(async (ghost) => settleUnlessHeld(context, ghost)));
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
      report[outcome.value] += 1;
    }
  }
}

async function settleUnlessHeld(context: LeadContext, ghost: OrderRecord): Promise<'waiting' | 'settled'> {
  if (await isHeld(ghost)) return 'waiting';
  await settleGhost(context, ghost);
  return 'settled';
}

/** Whether somebody who is still there holds the order. Of another machine only the lease can tell, and it has run out. */
async function isHeld({ owner }: OrderRecord): Promise<boolean> {
  if (owner === null) return false;
  if (isInProgress(owner.worker_id)) return true;
  if (owner.host !== hostname() || owner.pid === process.pid) return false;
  return (await getProcessState({ pid: owner.pid, started: owner.pid_started })) === 'alive';
}

async function settleGhost(context: LeadContext, { order, run }: OrderRecord): Promise<void> {
  const { stdout, stderr, command, version } = await readLastAttempt(context.runFolderOf(run), STREAM_BYTES);
  const note = await putAwayWorktree(worktreeOf(context.data, order, run));
  await settle(context, {
    issueRef: order.issue_ref,
    runId: order.run_id,
    // Whatever the folder says of the exit: the worker could write there, and nobody saw it.
    ...NOT_SEEN,
    stdout,
    stderr,
    command,
    workerVersion: version,
    ...note,
  });
}
