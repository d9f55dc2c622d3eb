import type { ClaimedRun } from '../runs/index.js';
import { holdClaim } from './hold-claim.js';
import type { HeldClaim } from './hold-claim.js';
import { executeOrder } from './order/execute-order.js';
import { retryStore } from './retry-store.js';
import { acquireFolder, CANCELED_BEFORE_START, runToEnd } from './run-to-end.js';
import type { WorkContext } from './worker-options.js';

/** Executes a claimed run from the folder lock to its end; with its order, if it carries one. */
export async function executeRun(context: WorkContext, claimed: ClaimedRun, workerId: string): Promise<void> {
  const { record, order } = claimed;
  const claim = holdClaim(context, { id: record.id, workerId });
  try {
    if (order === null) await executePlainRun(context, record, workerId, claim);
    else {
      await executeOrder(context, { record: order, unresolved: claimed.unresolved }, { workerId, claim, executeCheck });
    }
  } finally {
    await claim.end();
  }
}

async function executePlainRun(
  context: WorkContext,
  { id, spec }: ClaimedRun['record'],
  workerId: string,
  claim: HeldClaim,
): Promise<void> {
  const { store, clock } = context;
  const lock = await acquireFolder(context, { id, workerId }, spec.workdir);
  if (lock === 'busy') return;
  try {
    const started = await retryStore(async () => store.markStarted({ id, workerId, now: clock() }), context);
    if (started === 'lost') return;
    const result =
      started === 'canceled' ? CANCELED_BEFORE_START : await runToEnd(context, { id, workerId, spec, lock }, claim);
    await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
  } finally {
    await lock?.release();
  }
}

/** Executes a check of an order: a run of its own that is in the store already, and is held under that name. */
async function executeCheck(context: WorkContext, id: string, workerId: string): Promise<void> {
  const record = await context.store.findRun(id);
  if (record !== undefined) await executeRun(context, { record, order: null, unresolved: [] }, workerId);
}
