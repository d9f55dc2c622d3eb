import type { Emitted, LogPosition } from '../../events/index.js';
import type {
  ExecutionRecord,
  InboxItem,
  IssueRecord,
  OrderRecord,
  OutboxMessage,
  RunRecord,
} from '../../records/index.js';
import { storeClosed } from '../refusals.js';
import { createWakers, type Wakers } from '../wakers.js';

/** A record and its place in the order of arrival; the record is replaced, never changed. */
export interface Row<T> {
  readonly sequence: number;
  record: T;
}

/** A message and who is delivering it. */
export interface OutboxRow extends Row<OutboxMessage> {
  workerId: string | null;
}

/** A run, the answer that waits for its worker, and the text it is searched in. */
export interface RunRow extends Row<RunRecord> {
  readonly searchText: string;
  reply: string | null;
}

/** An event and its place. */
export interface KeptEvent extends LogPosition {
  readonly emitted: Emitted;
}

/** A result, as text. */
export interface KeptResult {
  readonly text: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
}

/** All that a store in memory holds. */
export interface Tables {
  readonly issues: Map<string, Row<IssueRecord>>;
  readonly orders: Map<string, Row<OrderRecord>>;
  /** Orders that are neither settled nor canceled, so that a claim need not look at the others. */
  readonly openOrders: Set<Row<OrderRecord>>;
  readonly orderKeysByRequest: Map<string, string>;
  readonly executions: Map<string, Row<ExecutionRecord>>;
  readonly inbox: Map<string, Row<InboxItem>>;
  readonly outbox: Map<string, OutboxRow>;
  readonly outboxKeys: Set<string>;
  readonly runs: Map<string, RunRow>;
  readonly runIdsByRequest: Map<string, string>;
  /** Runs whose events were let go. */
  readonly forgotten: Set<string>;
  /** By protocol and run, in order. */
  readonly events: Map<string, KeptEvent[]>;
  /** In the order of keeping. */
  readonly results: Map<string, KeptResult>;
  readonly wakers: Wakers;
  isClosed: boolean;
}

/** Makes the tables of an empty store. */
export function createTables(): Tables {
  return {
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
    forgotten: new Set(),
    events: new Map(),
    results: new Map(),
    wakers: createWakers(),
    isClosed: false,
  };
}

/** Refuses a command after the end. Commands here never wait, so each is a transaction by itself. */
export function checkOpen(tables: Tables): void {
  if (tables.isClosed) throw storeClosed();
}

/** Issue and run id together name an order. */
export function orderKey(issueRef: string, runId: string): string {
  return `${issueRef}\n${runId}`;
}

/** Puts another record in place of an order's. */
export function replaceOrder(tables: Tables, row: Row<OrderRecord>, change: Partial<OrderRecord>): OrderRecord {
  row.record = { ...row.record, ...change };
  if (row.record.state === 'settled' || row.record.state === 'canceled') tables.openOrders.delete(row);
  return row.record;
}

/** A value as a database would give it back: a copy, and only what JSON holds. */
export function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** What waits for a person about an issue. */
export function openItems(tables: Tables, issueRef: string): Row<InboxItem>[] {
  return [...tables.inbox.values()].filter(({ record }) => record.issue_ref === issueRef && record.resolution === null);
}
