import type { ClaimedOrder } from '../ports/order-store.js';
import { whileInProgress } from './claims-in-progress.js';
import type { LeadContext } from './lead-context.js';
import { prepareOrder } from './prepare-order.js';
import { NOT_SEEN, runWorker } from './run-worker.js';
import type { StartOrderRun } from './run-worker.js';
import { settle } from './settle.js';
import type { OrderName, Settlement } from './settle.js';
import { untilDone } from './until-done.js';
import { watchHold } from './watch-hold.js';
import { worktreeOf } from './worktree-of.js';
import { putAwayWorktree, removeWorktree } from './worktree.js';
import type { Worktree } from './worktree.js';

/** What doing an order needs beside the lead. */
export interface ExecutionPorts {
  /** The name under which the order was claimed. */
  readonly workerId: string;
  readonly leaseMs: number;
  readonly startRun: StartOrderRun;
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
  const worktree = worktreeOf(context.data, order, record.run);
  return whileInProgress(ports.workerId, async () => {
    const watch = watchHold({ context, hold, leaseMs: ports.leaseMs, signal: ports.signal });
    try {
      const prepared = unresolved.length > 0 ? { unresolved } : await prepareOrder(context, record, worktree);
      // Who has no more time leaves it to others: the claim is free when its lease ends.
      if (ports.signal?.aborted === true) return undefined;
      // Nothing is settled that somebody else may hold by now: this is where the claim is either kept or lost.
      const mayStart = await store.startOrder({ ...hold, now: clock(), pid: null, pidStarted: null });
      if (!mayStart) {
        await clearAway(context, hold, worktree);
        return undefined;
      }
      const { startRun } = ports;
      const { stop } = watch;
      const how = 'spec' in prepared ? await runWorker(context, record, prepared, { startRun, stop }) : prepared;
      const note = await putAwayWorktree(worktree);
      // A result must not be lost to a store that is out of reach for a moment; to settle twice is harmless.
      const settleOnce = async () => settle(context, { ...hold, ...NOT_SEEN, ...how, ...note });
      return await untilDone(settleOnce, { logger, signal: ports.signal });
    } finally {
      await watch.end();
    }
  });
}

/** Takes the worktree of an order away that was replaced before it began; of one that somebody else took over it is theirs. */
async function clearAway(
  { store }: LeadContext,
  { issueRef, runId }: OrderName,
  worktree: Worktree | undefined,
): Promise<void> {
  const record = worktree === undefined ? undefined : await store.findOrder(issueRef, runId);
  if (worktree !== undefined && record?.state === 'canceled') await removeWorktree(worktree);
}
