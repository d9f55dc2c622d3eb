import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type {
  RunRecord,
  Resolution,
  RunContract,
  RunResult,
  RunSpec,
  StoredRunSpec,
  Labels,
  Superseded,
  WorkOrder,
  WorkRequest,
} from './records/index.js';
import type { OrderSettlement, OrderSubmission, RaceEntry, Rival } from './ports/index.js';
import { StoreError, createReusedIdError } from './store-error.js';

/**
 * Formats what a worker must have to claim a run: its labels, sorted by name, and the wrapper type of its order.
 *
 * @example
 * formatKind({ region: 'eu', gpu: 'a100' }, 'codex-cli') // 'gpu=a100,region=eu codex-cli'
 */
export function formatKind(labels: Labels = {}, workerType: string | null): string {
  return `${listLabels(labels).join()} ${workerType ?? ''}`;
}

/** Returns the wrapper type of a kind; empty for runs without an order. */
export function readType(kind: string): string {
  return kind.slice(kind.indexOf(' ') + 1);
}

/**
 * Lists the sets of labels that a worker's labels include, as in kinds. Looking for each of them costs the same however many
 * different labels the queued runs have.
 *
 * @example
 * listLabelSets({ gpu: 'a100', region: 'eu' }) // ['', 'gpu=a100', 'region=eu', 'gpu=a100,region=eu']
 */
export function listLabelSets(labels: Labels = {}): readonly string[] {
  return listLabels(labels).reduce(
    (sets, label) => [...sets, ...sets.map((set) => (set === '' ? label : `${set},${label}`))],
    [''],
  );
}

function listLabels(labels: Labels): string[] {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted();
}

/**
 * The time before which a run that a server places must not be claimed: never, by workers. It distinguishes these runs
 * from others as long as they exist, and claims pass over them as they do over deferred runs.
 */
export const PLACED = 900_000_000_000_000;

/** Whether a server places a run, instead of leaving it to a worker. */
export function isPlacedByServer({ placement = 'local' }: Pick<StoredRunSpec, 'placement'>): boolean {
  return placement !== 'local' && placement !== 'container';
}

/** One order of a submission; a race has multiple orders. */
export interface NamedOrder extends Rival {
  readonly runId: string;
}

/** Assigns run ids to a submission's orders, and names their race after the first run id. */
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

/** A run's entry in a race, and the rows to write if another run replaces the race. */
export type StoredEntry = Pick<OrderSettlement, 'stale'> & { readonly entry: RaceEntry };

/** Returns the path of the folder that a run occupies, with its links: the folder's own lock uses the real path. */
export function resolveFolder(id: string, spec: Pick<StoredRunSpec, 'workdir' | 'placement'>): string {
  // Each place has its own folders.
  return isPlacedByServer(spec) ? `placed ${id}` : resolve(spec.workdir);
}

/**
 * Returns the storable part of a spec. Schemas and normalizers that are code cannot be stored: they are omitted for a
 * running run, and rejected for a queued run, which another process would start without them.
 */
export function storeSpec(spec: RunSpec, state: 'queued' | 'running'): StoredRunSpec {
  const { contract, ...fields } = spec;
  if (contract === undefined) return fields;
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
  return { ...fields, contract: { ...plain, ...(stored !== undefined && { schema: stored }) } };
}

type ContractSchema = NonNullable<RunContract['schema']>;

function isCode(schema: ContractSchema): schema is Exclude<ContractSchema, Readonly<Record<string, unknown>>> {
  return typeof schema === 'function' || '~standard' in schema;
}

/** The result of a run canceled while queued, which ends immediately. */
export const CANCELED_IN_QUEUE: RunResult = {
  status: 'canceled',
  repair_level: 'none',
  warnings: [],
  error: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled before it started.' },
  artifacts: { created: [], modified: [], deleted: [] },
  attempts: 0,
  session_id: null,
};

/** Creates the resolution for open inbox items whose run is replaced by a new order. */
export function createSuperseded(runId: string, { by = 'lead', now }: Pick<OrderSubmission, 'by' | 'now'>): Superseded {
  return {
    action: 'superseded',
    who: by,
    why: `Replaced by run ${runId}, submitted by ${by}.`,
    new_run_id: runId,
    at: new Date(now).toISOString(),
  };
}

/** Rejects an order that must not replace undecided inbox items; called before the transaction is committed. */
export function checkReplaced(items: number, { request, keepsUndecided }: OrderSubmission): void {
  if (keepsUndecided !== true || items === 0) return;
  throw new StoreError(
    'ISSUE_UNDECIDED',
    `The issue "${request.issue_ref}" has an undecided inbox item. Decide it first.`,
  );
}

/** Creates the resolution for a race's other open items after a user has accepted one of its results. */
export function createSupersededByChoice(runId: string, { who, at }: Pick<Resolution, 'who' | 'at'>): Superseded {
  return { action: 'superseded', who, why: `Run ${runId} was accepted instead.`, new_run_id: runId, at };
}

/** Rejects a different request with the same id: its sender would mistake the old order for the new order. */
export function checkSameOrder({ run_id: runId, ...known }: WorkOrder, request: WorkRequest): void {
  if (isSame(known, request)) return;
  throw createReusedIdError(request.request_id ?? '', `order "${runId}" of issue "${known.issue_ref}"`);
}

/** Rejects a different run with the same request id: its sender would mistake the old result for the new result. */
export function checkSameRun(known: Pick<RunRecord, 'id' | 'spec'>, requestId: string, spec: StoredRunSpec): void {
  // Not compared: a repeated request belongs to a different span.
  const { traceparent: _known, ...before } = known.spec;
  const { traceparent: _new, ...now } = spec;
  if (!isSame(before, now)) throw createReusedIdError(requestId, `run "${known.id}"`);
}

/** Whether two requests are equal as JSON, regardless of field order. */
function isSame(known: unknown, request: unknown): boolean {
  return isDeepStrictEqual(known, JSON.parse(JSON.stringify(request)));
}

/** The maximum number of expired runs that one call returns; the next call returns more. */
export const MAX_EXPIRED = 100;
