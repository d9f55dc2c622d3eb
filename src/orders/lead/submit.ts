import { formatRunId } from '../../records/index.js';
import type { OrderRecord, WorkOrder } from '../../records/index.js';
import { readWorkRequest } from '../shapes/read-work-request.js';
import { wrapperOf } from '../wrappers/read-wrappers.js';
import type { LeadContext } from './lead-context.js';

/** An order that has its run id and waits for a worker. */
export interface SubmittedOrder {
  readonly order: WorkOrder;
  /** Names the run folder. */
  readonly run: string;
  /** The same request had been made before: this is its order. */
  readonly repeated: boolean;
  readonly record: OrderRecord;
}

/** Checks a request and hands out its run id; the run it replaces is asked to stop. */
export async function submit(context: LeadContext, request: unknown): Promise<SubmittedOrder> {
  const checked = readWorkRequest(request);
  const now = context.clock();
  const { record, repeated } = await context.store.submitOrder({
    request: checked,
    workerType: wrapperOf(checked.worker, context.wrappers).type,
    run: context.newId(),
    runIdOf: (number) => formatRunId(now, checked.role, number),
    now,
  });
  return { order: record.order, run: record.run, repeated, record };
}
