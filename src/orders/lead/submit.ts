import { formatRunId } from '../../records/index.js';
import type { OrderRecord, StoredRunSpec, WorkOrder, WorkRequest } from '../../records/index.js';
import { chooseIsolation } from '../proof/choose-isolation.js';
import { findChecks } from '../proof/checks.js';
import { readWorkRequest } from '../shapes/read-work-request.js';
import { findWrapper, findAgentEngine } from '../wrappers/wrappers.js';
import type { Wrapper } from '../wrappers/wrappers.js';
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

/** Checks a request and assigns its run id; the run it replaces is asked to stop. */
export async function submit(context: LeadContext, request: unknown): Promise<SubmittedOrder> {
  const checked = readWorkRequest(request);
  const now = context.clock();
  const wrapper = findWrapper(checked.worker, context.wrappers);
  // A name that means nothing is refused now, not when the work is done.
  findChecks(checked, wrapper, context.checks);
  const { record, repeated } = await context.store.submitOrder({
    request: checked,
    workerType: wrapper.type,
    run: context.newId(),
    spec: sketchSpec(checked, wrapper),
    makeRunId: (number) => formatRunId(now, checked.role, number),
    isolation: await chooseIsolation(checked, wrapper),
    now,
  });
  return { order: record.order, run: record.run, repeated, record };
}

/** What is known of an order's run before a worker prepares it; the worker replaces it by what it really starts. */
export function sketchSpec({ repo_dir, instructions }: WorkRequest, { type, command }: Wrapper): StoredRunSpec {
  const engine = command === undefined ? findAgentEngine(type) : undefined;
  return { engine: engine ?? 'command', workdir: repo_dir, prompt: instructions };
}
