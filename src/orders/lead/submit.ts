import { omitUndefined } from '../../base/index.js';
import { formatRunId } from '../../store/records/index.js';
import type { OrderRecord, StoredRunSpec, WorkOrder, WorkRequest } from '../../store/records/index.js';
import { chooseIsolation } from '../git/worktree.js';
import { findChecks } from '../proof/checks.js';
import { readWorkRequest } from '../shapes/read-work-request.js';
import { findRepo } from '../repos/repos.js';
import { findWrapper, findAgentEngine, pickPlacement, type Wrapper } from '../wrappers/wrappers.js';
import type { Rival } from '../../store/ports/index.js';
import { LeadError } from '../orders-error.js';
import type { LeadContext } from './lead-context.js';

/** An order that has a run id and is waiting for a worker. */
export interface SubmittedOrder {
  readonly order: WorkOrder;
  /** The run's id, which is also the name of its run folder. */
  readonly run: string;
  /** The request was already submitted; this is the existing order. */
  readonly repeated: boolean;
  readonly record: OrderRecord;
  /** The other orders of a race. */
  readonly rivals: readonly OrderRecord[];
}

/**
 * Checks a request and assigns its run id; the run it replaces is asked to stop. A race is submitted in one step as
 * multiple orders that differ only in their worker.
 */
export async function submit(
  context: LeadContext,
  request: unknown,
  { traceparent, beforeQueued, by, keepsUndecided, after }: SubmitOptions = {},
): Promise<SubmittedOrder> {
  const validRequest = readWorkRequest(request);
  const now = context.clock();
  const prepare = async (worker: string): Promise<Rival> =>
    prepareOrder(context, { ...validRequest, worker }, traceparent);
  // One worker, or one for each run of a race.
  const { worker: named, race = 1 } = validRequest;
  const workers = typeof race === 'number' ? Array.from({ length: race }, () => named) : race;
  const [first, ...otherOrders] = await Promise.all(workers.map(prepare));
  if (first === undefined) throw new Error('A race has at least one run.');
  for (const { run } of [first, ...otherOrders]) await beforeQueued?.({ run, issueRef: validRequest.issue_ref });
  // Called in the transaction that submits the order, after the issue is locked.
  const makeRunId = (number: number): string => {
    if (after !== undefined && number > after + 1 + otherOrders.length)
      throw new LeadError('CONFLICT', `The issue "${validRequest.issue_ref}" has a newer order. Try again.`);
    return formatRunId(now, validRequest.role, number);
  };
  const submitted = await context.store.submitOrder({
    ...first,
    rivals: otherOrders,
    ...omitUndefined({ by, keepsUndecided }),
    makeRunId,
    now,
  });
  const { record, repeated } = submitted;
  return { order: record.order, run: record.run, repeated, record, rivals: submitted.rivals };
}

/** Options that accompany a request. */
export interface SubmitOptions {
  /** The span that caused the order, in W3C Trace Context format; the parent of the order's spans. */
  readonly traceparent?: string | undefined;
  /** Who submits it; recorded in the inbox items that the order replaces. */
  readonly by?: string;
  /** Rejects the order with `ISSUE_UNDECIDED` if it would replace an undecided inbox item. */
  readonly keepsUndecided?: boolean;
  /** The issue's last run number: rejects the order with `CONFLICT` if another one was submitted since. */
  readonly after?: number;
  /** Called with each run before a worker can claim it. */
  readonly beforeQueued?: (run: { readonly run: string; readonly issueRef: string }) => Promise<void>;
}

async function prepareOrder(
  { wrappers, checks, repos, newId }: LeadContext,
  request: WorkRequest,
  traceparent: string | undefined,
): Promise<Rival> {
  const wrapper = findWrapper(request.worker, wrappers);
  // Reject an unknown check or repository now, not after the work is done.
  findChecks(request, wrapper, checks);
  if (request.repo !== undefined) findRepo(request.repo, repos);
  return {
    request,
    workerType: wrapper.type,
    run: newId(),
    spec: { ...createPreliminarySpec(request, wrapper), ...omitUndefined({ traceparent }) },
    isolation: await chooseIsolation(request),
  };
}

/** Creates a preliminary spec for an order's run; the worker replaces it with the real one. */
export function createPreliminarySpec({ repo_dir }: WorkRequest, wrapper: Wrapper): StoredRunSpec {
  const engine = wrapper.command === undefined ? findAgentEngine(wrapper.type) : undefined;
  // The placement and the labels decide who claims the run.
  const place = { ...pickPlacement(wrapper), ...omitUndefined({ labels: wrapper.labels }) };
  return { engine: engine ?? 'command', workdir: repo_dir, ...place };
}
