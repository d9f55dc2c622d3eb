import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type {
  RunRecord,
  Resolution,
  RunContract,
  RunResult,
  RunSpec,
  StoredRunSpec,
  Superseded,
  WorkOrder,
  WorkRequest,
} from '../records/index.js';
import type { OrderSettlement, OrderSubmission, RaceEntry, Rival } from '../orders/index.js';
import { StoreError, requestIdReused } from './store-error.js';

/** A run to be queued. A run that carries an order has the order's priority, worker type and isolation. */
export interface QueuedRun {
  readonly id: string;
  readonly spec: StoredRunSpec;
  readonly order: RunRecord['order'];
  readonly workerType: string | null;
  readonly priority: number;
  /** Two runs share a folder only if neither needs it exclusively: orders with a git worktree each. */
  readonly isExclusive: boolean;
}

/** Whether an order needs its folder for itself; one with a worktree does not. */
function needsWholeFolder({ request, isolation }: Pick<OrderSubmission, 'request' | 'isolation'>): boolean {
  return (request.isolation ?? isolation) !== 'worktree';
}

/** One order of a submission: a race has several. */
export interface NamedOrder extends Rival {
  readonly runId: string;
}

/** The orders of a submission with their run ids, and the name of their race: the run id of the first. */
export function nameOrders(
  submission: OrderSubmission,
  firstNumber: number,
): { readonly orders: readonly [NamedOrder, ...NamedOrder[]]; readonly group: string | null } {
  const name = (order: Rival, index: number): NamedOrder => ({
    ...order,
    runId: submission.makeRunId(firstNumber + index),
  });
  const rivals = (submission.rivals ?? []).map(({ request: { request_id: _, ...request }, ...rival }, index) =>
    name({ ...rival, request }, index + 1),
  );
  const first = name(submission, 0);
  return { orders: [first, ...rivals], group: rivals.length === 0 ? null : first.runId };
}

/** The run that carries an order. */
export function queueOrder({ request, workerType, run, runId, spec, isolation }: NamedOrder): QueuedRun {
  return {
    id: run,
    spec,
    order: { issue_ref: request.issue_ref, run_id: runId },
    workerType,
    priority: request.priority ?? 0,
    isExclusive: needsWholeFolder({ request, ...(isolation === undefined ? {} : { isolation }) }),
  };
}

/** The entry of a run of a race, and the rows to write if another run replaces the race. */
export type KeptEntry = Pick<OrderSettlement, 'stale'> & { readonly entry: RaceEntry };

/** The folder that a run occupies. Links are not resolved here: the lock on the folder itself uses its real path. */
export function readFolder({ workdir }: Pick<StoredRunSpec, 'workdir'>): string {
  return resolve(workdir);
}

/** A run that carries no order. */
export function queuePlainRun(id: string, spec: StoredRunSpec): QueuedRun {
  return { id, spec, order: null, workerType: null, priority: 0, isExclusive: true };
}

/**
 * A spec without what only exists in process. Schemas and normalizers that are code cannot be stored: for a running run they
 * are left out; for a queued one, which another process would start without them, that is an error.
 */
export function storeSpec(spec: RunSpec, state: 'queued' | 'running'): StoredRunSpec {
  const { contract, ...rest } = spec;
  if (contract === undefined) return rest;
  const { schema, normalizers, ...plain } = contract;
  const stored = schema === undefined || isCode(schema) ? undefined : schema;
  if (
    state === 'queued' &&
    ((schema !== undefined && stored === undefined) || (normalizers !== undefined && normalizers.length > 0))
  ) {
    throw new StoreError(
      'SPEC_NOT_STORABLE',
      'Cannot queue the run: its contract contains code, which another process cannot load. Use a JSON Schema without normalizers, or start the run in this process.',
    );
  }
  return { ...rest, contract: { ...plain, ...(stored !== undefined && { schema: stored }) } };
}

type ContractSchema = NonNullable<RunContract['schema']>;

function isCode(schema: ContractSchema): schema is Exclude<ContractSchema, Readonly<Record<string, unknown>>> {
  return typeof schema === 'function' || '~standard' in schema;
}

/** The result of a run that is canceled while queued: it ends at once. */
export const CANCELED_IN_QUEUE: RunResult = {
  status: 'canceled',
  repair_level: 'none',
  warnings: [],
  error: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled before it started.' },
  artifacts: { created: [], modified: [], deleted: [] },
  attempts: 0,
  session_id: null,
};

/** The resolution of open inbox items when a new order replaces the run they are about. */
export function supersededBy(runId: string, now: number): Superseded {
  return {
    action: 'superseded',
    who: 'lead',
    why: `Run ${runId} was ordered instead.`,
    new_run_id: runId,
    at: new Date(now).toISOString(),
  };
}

/** The resolution of the other open items of a race when a person has accepted one of its results. */
export function supersededByChoice(runId: string, { who, at }: Pick<Resolution, 'who' | 'at'>): Superseded {
  return { action: 'superseded', who, why: `Run ${runId} was accepted instead.`, new_run_id: runId, at };
}

/** Refuses a different request with the same id: its sender would mistake the old order for the new one. */
export function checkSameOrder({ run_id: runId, ...asked }: WorkOrder, request: WorkRequest): void {
  if (isSame(asked, request)) return;
  throw requestIdReused(request.request_id ?? '', `order "${runId}" of issue "${asked.issue_ref}"`);
}

/** The same for a run: its sender would mistake the old result for the new one. */
export function checkSameRun(known: Pick<RunRecord, 'id' | 'spec'>, requestId: string, spec: StoredRunSpec): void {
  // A repeated request belongs to another span.
  const { traceparent: _known, ...before } = known.spec;
  const { traceparent: _new, ...now } = spec;
  if (!isSame(before, now)) throw requestIdReused(requestId, `run "${known.id}"`);
}

/** Whether two requests are equal as JSON; the order of fields does not matter. */
function isSame(kept: unknown, request: unknown): boolean {
  return isDeepStrictEqual(kept, JSON.parse(JSON.stringify(request)));
}

/** How many expired runs one call returns: the next call returns the rest. */
export const EXPIRED_AT_ONCE = 100;
