import type { ClaimedRun } from '../../store/ports/index.js';
import { holdClaim } from './hold-claim.js';
import type { HeldClaim } from './hold-claim.js';
import type { OrderRecord, RunRecord } from '../../store/records/index.js';
import { requestBudget } from './budgets.js';
import type { BudgetOutcome } from './budgets.js';
import { executeOrder, resumeOrder } from './order/execute-order.js';
import { EXIT_UNKNOWN, settleOrder } from './order/finish-order.js';
import { retryStore } from './retry-store.js';
import { acquireFolder, CANCELED_BEFORE_START, isDetached, runToEnd } from './run-to-end.js';
import type { WorkContext } from './worker-options.js';

/** Executes a claimed run and the order it carries, if any. */
export async function executeRun(context: WorkContext, claimed: ClaimedRun, workerId: string): Promise<void> {
  const { record, order } = claimed;
  const claim = holdClaim(context, { id: record.id, workerId });
  try {
    const outcome = claimed.unresolved.length > 0 ? NO_BUDGET : await requestBudget(context, record);
    if (outcome.status === 'wait') {
      const { store, clock, wakeAt } = context;
      await store.releaseRun({ id: record.id, workerId, now: clock(), retryAt: outcome.retryAt });
      wakeAt?.(outcome.retryAt);
      return;
    }
    if (outcome.status === 'refused' && order !== null) {
      return await settleOrder(context, order.order, { ...EXIT_UNKNOWN, startError: outcome.message });
    }
    const budgeted = withBudget(context, outcome);
    if (order === null) await executePlainRun(budgeted, record, workerId, claim);
    else {
      await traceOrder(budgeted, claimed.record.spec.traceparent, order, async (inside) =>
        executeOrder(inside, { record: order, unresolved: claimed.unresolved }, { workerId, claim, executeCheck }),
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

const NO_BUDGET: Extract<BudgetOutcome, { readonly status: 'granted' }> = { status: 'granted' };

function withBudget(context: WorkContext, outcome: BudgetOutcome): WorkContext {
  if (outcome.status !== 'granted' || outcome.budget === undefined) return context;
  return { ...context, runs: { ...context.runs, budget: outcome.budget } };
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

/** Continues a run whose worker is gone, after its claim was taken over. */
export async function resumeAdopted(worker: WorkContext, record: RunRecord, workerId: string): Promise<void> {
  const { id, spec, state: resumedFrom } = record;
  const { store, clock } = worker;
  const claim = holdClaim(worker, { id, workerId });
  try {
    // It reserved its share of the budgets when it started; further usage is still counted.
    const context = withBudget(worker, await requestBudget(worker, record));
    if (record.order !== null) return await resumeOrder(context, record, { workerId, claim, executeCheck });
    const run = { id, workerId, spec, lock: undefined, resumedFrom, mayDetach: true };
    const result = await runToEnd(context, run, claim);
    if (isDetached(result)) return;
    await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
  } finally {
    await claim.end();
  }
}

/** Executes a check of an order: a separate run that is already in the store and claimed by `workerId`. */
async function executeCheck(context: WorkContext, id: string, workerId: string): Promise<void> {
  const record = await context.store.findRun(id);
  if (record !== undefined) await executeRun(context, { record, order: null, unresolved: [] }, workerId);
}
