import { randomUUID } from 'node:crypto';
import type { Emitted, LogPosition } from '../../events/index.js';
import type {
  ExecutionRecord,
  InboxItem,
  IssueRecord,
  OrderRecord,
  OutboxMessage,
  RunRecord,
} from '../../records/index.js';
import type { WorkerReport } from '../fleet.js';
import type { StoredEntry } from '../queue-rules.js';
import { createClosedError } from '../store-error.js';
import { explainWaiting } from '../waiting-for.js';
import { createWakers, type Wakers } from '../wakers.js';

/** A record and its insertion number from {@link nextSequence}; the record is replaced, never changed. */
export interface Row<T> {
  readonly sequence: number;
  record: T;
}

/** An order; its state follows from its run. */
export interface OrderRow extends Row<Omit<OrderRecord, 'state' | 'started_at'>> {
  /** The run's entry in a race, once the run has ended. */
  entry: StoredEntry | null;
}

/** A message and the worker that delivers it. */
export interface OutboxRow extends Row<OutboxMessage> {
  workerId: string | null;
}

/** A run with its queue columns, the pending reply for its worker, and its search text. */
export interface RunRow extends Row<Omit<RunRecord, 'waiting_for'>> {
  readonly searchText: string;
  readonly folder: string;
  readonly isExclusive: boolean;
  readonly workerType: string | null;
  readonly priority: number;
  /** Not to be claimed before this time: its folder was in use by a process outside the store, or a budget was used up. */
  notBefore: number;
  reply: string | null;
  /** The state of its order's repository before the run started. */
  repositoryStart?: string;
}

/** An event and its position. */
export interface StoredEvent extends LogPosition {
  readonly emitted: Emitted;
}

/** A result as a JSON string. */
export interface StoredResult {
  readonly text: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
}

/** The content of an in-memory store. */
export interface Tables {
  readonly installation: string;
  readonly issues: Map<string, Row<IssueRecord>>;
  readonly orders: Map<string, OrderRow>;
  /** Orders that are neither settled nor canceled. */
  readonly openOrders: Set<OrderRow>;
  readonly orderKeysByRequest: Map<string, string>;
  readonly executions: Map<string, Row<ExecutionRecord>>;
  readonly inbox: Map<string, Row<InboxItem>>;
  readonly outbox: Map<string, OutboxRow>;
  readonly outboxKeys: Set<string>;
  readonly runs: Map<string, RunRow>;
  readonly runIdsByRequest: Map<string, string>;
  /** Runs whose events were deleted, and when. */
  readonly purged: Map<string, number>;
  /** By protocol and run, in order. */
  readonly events: Map<string, StoredEvent[]>;
  /** In insertion order. */
  readonly results: Map<string, StoredResult>;
  readonly workers: Map<string, WorkerReport>;
  /** The holder of each job, and until when. */
  readonly jobs: Map<string, { readonly owner: string; readonly until: number }>;
  /** Budget usage and shares, by run. */
  readonly budgets: Map<string, BudgetRow>;
  readonly wakers: Wakers;
  /** The last sequence number of each table. */
  readonly lastSequences: Map<SequencedTable, number>;
  isClosed: boolean;
}

/** A table whose rows are numbered. */
type SequencedTable = 'issues' | 'orders' | 'executions' | 'inbox' | 'runs';

/** A run's usage and shares. */
export interface BudgetRow {
  readonly caller: string | null;
  readonly issueRef: string | null;
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
  /** The reserved share. Unlike in `BudgetUse`, usage is not included. */
  readonly heldTokens: number;
  readonly heldCost: number;
  readonly waitsFor: string | null;
}

/** Creates the tables of an empty store. */
export function createTables(): Tables {
  return {
    installation: randomUUID(),
    issues: new Map(),
    orders: new Map(),
    openOrders: new Set(),
    orderKeysByRequest: new Map(),
    executions: new Map(),
    inbox: new Map(),
    outbox: new Map(),
    outboxKeys: new Set(),
    runs: new Map(),
    runIdsByRequest: new Map(),
    purged: new Map(),
    events: new Map(),
    results: new Map(),
    workers: new Map(),
    jobs: new Map(),
    budgets: new Map(),
    wakers: createWakers(),
    lastSequences: new Map(),
    isClosed: false,
  };
}

/** Rejects a command after the store was closed. Commands here never await, so each is a transaction. */
export function checkOpen(tables: Tables): void {
  if (tables.isClosed) throw createClosedError();
}

/** Returns the next row number of a table. The numbers of deleted rows are not reused, because cursors contain them. */
export function nextSequence({ lastSequences }: Tables, table: SequencedTable): number {
  const sequence = (lastSequences.get(table) ?? 0) + 1;
  lastSequences.set(table, sequence);
  return sequence;
}

/** Formats the issue and run id, which together identify an order, as a key. */
export function formatOrderKey(issueRef: string, runId: string): string {
  return `${issueRef}\n${runId}`;
}

/** Builds an order record from its row and its run. */
export function readOrder(tables: Tables, { record }: OrderRow): OrderRecord {
  const run = tables.runs.get(record.run)?.record;
  const openState = run?.state === 'queued' ? 'queued' : 'running';
  const settledState = record.decision === null ? 'canceled' : 'settled';
  return copyValue({
    ...record,
    state: record.settled_at === null ? openState : settledState,
    started_at: run?.started_at ?? null,
  });
}

/** Settles or cancels an order. */
export function closeOrder(
  tables: Tables,
  row: OrderRow,
  close: Pick<OrderRecord, 'settled_at' | 'decision' | 'result'>,
): void {
  row.record = { ...row.record, ...copyValue(close) };
  tables.openOrders.delete(row);
  tables.wakers.wake(row.record.run);
}

/** Builds a run record, with the reason it is waiting. */
export function readRun(tables: Tables, row: RunRow): RunRecord {
  return { ...copyValue(row.record), waiting_for: readWaitingFor(tables, row) };
}

function readWaitingFor(tables: Tables, row: RunRow): RunRecord['waiting_for'] {
  if (row.record.state !== 'queued') return null;
  return explainWaiting({
    folderHolder: findFolderHolder(tables, row)?.record.id ?? null,
    budget: tables.budgets.get(row.record.id)?.waitsFor ?? null,
    notBefore: row.notBefore,
  });
}

/**
 * Finds the claimed run that occupies another run's folder. Two runs share a folder only if neither needs it
 * exclusively.
 */
export function findFolderHolder(tables: Tables, { folder, isExclusive }: RunRow): RunRow | undefined {
  return [...tables.runs.values()].find(
    (other) => isHeld(other) && other.folder === folder && (other.isExclusive || isExclusive),
  );
}

/** Whether a worker has claimed the run. */
export function isHeld({ record: { state } }: RunRow): boolean {
  return state === 'running' || state === 'waiting';
}

/** Copies a value as a database would return it: with only what JSON can represent. */
export function copyValue<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Lists the open inbox items of an issue. */
export function listOpenItems(tables: Tables, issueRef: string): Row<InboxItem>[] {
  return [...tables.inbox.values()].filter(({ record }) => record.issue_ref === issueRef && record.resolution === null);
}

export function endRow(row: RunRow, result: RunRecord['result'], now: number): void {
  row.reply = null;
  row.record = {
    ...row.record,
    state: 'ended',
    lease_until: null,
    ended_at: new Date(now).toISOString(),
    result: copyValue(result),
  };
}
