import type { ClaimedRun } from '../runs/index.js';
import { holdClaim } from './hold-claim.js';
import type { HeldClaim } from './hold-claim.js';
import type { OrderRecord, RunRecord } from '../records/index.js';
import { holdBudget } from './budgets.js';
import type { BudgetAnswer } from './budgets.js';
import { executeOrder } from './order/execute-order.js';
import { EXIT_UNKNOWN, settleOrder } from './order/finish-order.js';
import { resumeOrder } from './order/resume-order.js';
import { retryStore } from './retry-store.js';
import { acquireFolder, CANCELED_BEFORE_START, isDetached, runToEnd } from './run-to-end.js';
import type { WorkContext } from './worker-options.js';

/** Executes a claimed run from the folder lock to its end; with its order, if it carries one. */
export async function executeRun(context: WorkContext, claimed: ClaimedRun, workerId: string): Promise<void> {
  const { record, order } = claimed;
  const claim = holdClaim(context, { id: record.id, workerId });
  try {
    const answer = claimed.unresolved.length > 0 ? HELD : await holdBudget(context, record);
    if (answer.status === 'wait') {
      const { store, clock, wakeAt } = context;
      await store.releaseRun({ id: record.id, workerId, now: clock(), retryAt: answer.retryAt });
      wakeAt?.(answer.retryAt);
      return;
    }
    if (answer.status === 'refused' && order !== null) {
      return await settleOrder(context, order.order, { ...EXIT_UNKNOWN, startError: answer.message });
    }
    const budgeted = withBudget(context, answer);
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

/** Executes an order inside its own span, which ends with what was decided. */
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

const HELD: Extract<BudgetAnswer, { readonly status: 'held' }> = { status: 'held' };

function withBudget(context: WorkContext, answer: BudgetAnswer): WorkContext {
  if (answer.status !== 'held' || answer.budget === undefined) return context;
  return { ...context, runs: { ...context.runs, budget: answer.budget } };
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
  const { id, spec, state: resumes } = record;
  const { store, clock } = worker;
  const claim = holdClaim(worker, { id, workerId });
  try {
    // It had its share when it started; what it uses now is still counted.
    const context = withBudget(worker, await holdBudget(worker, record));
    if (record.order !== null) return await resumeOrder(context, record, { workerId, claim, executeCheck });
    const run = { id, workerId, spec, lock: undefined, resumes, mayDetach: true };
    const result = await runToEnd(context, run, claim);
    if (isDetached(result)) return;
    await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
  } finally {
    await claim.end();
  }
}

/** Executes a check of an order: a separate run that is in the store already, and is held under that name. */
async function executeCheck(context: WorkContext, id: string, workerId: string): Promise<void> {
  const record = await context.store.findRun(id);
  if (record !== undefined) await executeRun(context, { record, order: null, unresolved: [] }, workerId);
}
