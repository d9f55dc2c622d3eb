import type { ClaimedRun } from '../runs/index.js';
import { holdClaim } from './hold-claim.js';
import type { HeldClaim } from './hold-claim.js';
import type { OrderRecord, RunRecord } from '../records/index.js';
import { executeOrder } from './order/execute-order.js';
import { resumeOrder } from './order/resume-order.js';
import { retryStore } from './retry-store.js';
import { acquireFolder, CANCELED_BEFORE_START, isDetached, runToEnd } from './run-to-end.js';
import type { WorkContext } from './worker-options.js';

/** Executes a claimed run from the folder lock to its end; with its order, if it carries one. */
export async function executeRun(context: WorkContext, claimed: ClaimedRun, workerId: string): Promise<void> {
  const { record, order } = claimed;
  const claim = holdClaim(context, { id: record.id, workerId });
  try {
    if (order === null) await executePlainRun(context, record, workerId, claim);
    else {
      await traceOrder(context, claimed.record.spec.traceparent, order, async (inside) =>
        executeOrder(inside, { record: order, unresolved: claimed.unresolved }, { workerId, claim, executeCheck }),
      );
    }
  } finally {
    await claim.end();
  }
}

/** Executes an order below a span of its own, which ends with what was decided. */
async function traceOrder(
  context: WorkContext,
  caller: string | undefined,
  { order, run }: OrderRecord,
  execute: (context: WorkContext) => Promise<void>,
): Promise<void> {
  const { issue_ref, run_id, worker } = order;
  const trace = context.runs.tracer?.startOrder({ issue_ref, run_id, worker, run, traceparent: caller });
  try {
    await execute({ ...context, traceparent: trace?.traceparent ?? caller });
  } finally {
    if (trace !== undefined) {
      const settled = await context.store.findOrder(issue_ref, run_id).catch(() => undefined);
      trace.end(settled?.decision ?? undefined);
    }
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
      started === 'canceled'
        ? CANCELED_BEFORE_START
        : await runToEnd(context, { id, workerId, spec, lock, mayDetach: true }, claim);
    if (isDetached(result)) return;
    await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
  } finally {
    await lock?.release();
  }
}

/** Goes on with a run whose worker is gone, after its claim was taken over. */
export async function resumeAdopted(context: WorkContext, record: RunRecord, workerId: string): Promise<void> {
  const { id, spec, state: resumes } = record;
  const { store, clock } = context;
  const claim = holdClaim(context, { id, workerId });
  try {
    if (record.order !== null) return await resumeOrder(context, record, { workerId, claim, executeCheck });
    const run = { id, workerId, spec, lock: undefined, resumes, mayDetach: true };
    const result = await runToEnd(context, run, claim);
    if (isDetached(result)) return;
    await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
  } finally {
    await claim.end();
  }
}

/** Executes a check of an order: a run of its own that is in the store already, and is held under that name. */
async function executeCheck(context: WorkContext, id: string, workerId: string): Promise<void> {
  const record = await context.store.findRun(id);
  if (record !== undefined) await executeRun(context, { record, order: null, unresolved: [] }, workerId);
}
