import type {
  Decision,
  ExecutionRecord,
  InboxItem,
  IssueRecord,
  IssueState,
  NewOutboxMessage,
  OrderRecord,
  OrderState,
  Resolution,
  RunResult,
  StoredRunSpec,
  WorkOrder,
  WorkRequest,
  WorkResult,
} from '../../records/index.js';
import type { Execution } from '../execution.js';

/** The clock that leases and records go by. */
export interface StoreClock {
  /**
   * The time of the store in milliseconds since 1970: that of this machine, or of the database where machines share one, so
   * that a machine with a wrong clock neither loses its leases nor ends those of others.
   */
  now(): number;
}

/**
 * The store as the lead uses it: each method is one transaction, done or not done. Times are milliseconds since 1970 and
 * come from the caller, who reads `StoreClock`.
 */
export interface OrderStore {
  /**
   * Assigns the next run id of the issue, makes it active, and queues a run that carries the order; the run it replaces is
   * asked to stop, or canceled if it is still queued. What waited for a person about the run before is settled as `superseded`. A request
   * whose id is known gives the order it had; another request under that id is refused with `REQUEST_ID_REUSED`. With
   * `rivals` all of them are queued as one race, and the issue's active group replaces its active run.
   */
  submitOrder(submission: OrderSubmission): Promise<{
    readonly record: OrderRecord;
    /** The other orders of a race. */
    readonly rivals: readonly OrderRecord[];
    readonly repeated: boolean;
  }>;
  /**
   * Writes everything that follows from a result at once and ends the order's run; the first statement is the update guarded
   * by the active run, in a race by the active group. The result of a race's run is kept as its entry; the last one to
   * enter settles them all in the same transaction.
   */
  settleOrder(settlement: OrderSettlement): Promise<{
    /** Of a race that is undecided: what the run would get alone. */
    readonly decision: Decision;
    readonly repeated: boolean;
    /** Run ids of the race that have not entered yet; absent if the order is decided. */
    readonly waitsFor?: readonly string[];
  }>;
  /**
   * Settles what waits for a person; `conflict` if the item's run is not the active one any more or it is resolved. The
   * issue leaves `needs-human` with the last of its open items; a retry settles them all. Accepting a result of an
   * undecided race makes its run the active one and settles the others as superseded.
   */
  resolveItem(resolution: ItemResolution): Promise<ResolveOutcome>;

  findIssue(issueRef: string): Promise<IssueRecord | undefined>;
  findOrder(issueRef: string, runId: string): Promise<OrderRecord | undefined>;
  /**
   * `search`: words that the reference must all contain, in any case. A page then looks at a bounded number of issues: it
   * may be short, or empty, and still have a next one.
   */
  listIssues(page: Page & { readonly state?: IssueState; readonly search?: string }): Promise<Listed<IssueRecord>>;
  /** `open`: only those neither settled nor canceled. */
  listOrders(
    page: Page & { readonly issueRef?: string; readonly state?: OrderState; readonly open?: boolean },
  ): Promise<Listed<OrderRecord>>;
  findItem(id: string): Promise<InboxItem | undefined>;
  /** `open`: only what waits, or only what is settled. */
  listInbox(
    page: Page & { readonly open?: boolean; readonly issueRef?: string; readonly order?: 'oldest' | 'newest' },
  ): Promise<Listed<InboxItem>>;
  listExecutions(page: Page & ExecutionFilter): Promise<Listed<ExecutionRecord>>;
}

/** `cursor` is what the last page returned. Newest first, except open orders and, by default, the inbox: oldest first. */
export interface Page {
  readonly limit?: number;
  readonly cursor?: string;
}

/** One page of a list. `next_cursor` asks for the next one; null at the end. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** Filters for executions; a missing filter matches all. */
export interface ExecutionFilter {
  readonly issueRef?: string;
  readonly runId?: string;
  readonly worker?: string;
  readonly decision?: Decision['action'];
  /** From this time on, as `at` is written. */
  readonly since?: string;
  /** Before this time. */
  readonly until?: string;
}

/** A request on its way to becoming an order. */
export interface OrderSubmission {
  readonly request: WorkRequest;
  readonly workerType: string;
  /** The run that will carry the order. */
  readonly run: string;
  /** The preliminary spec before a worker prepares it: engine, folder, instructions. */
  readonly spec: StoredRunSpec;
  /** Makes a run id from the number that the store assigns: `2026-11-15-backend-0001`. */
  readonly makeRunId: (number: number) => string;
  /** Where the work is done if the request does not say; `repository` by default. */
  readonly isolation?: 'repository' | 'worktree';
  /** For a retry: the commit that the order it repeats began from. */
  readonly baseCommit?: string | null;
  /** The other runs of a race. */
  readonly rivals?: readonly Rival[];
  readonly now: number;
}

/** Another run of a race: the same request with another worker. */
export type Rival = Pick<OrderSubmission, 'request' | 'workerType' | 'run' | 'spec' | 'isolation'>;

/** The rows to write if the run is the active one, and if it is not. */
export interface OrderSettlement {
  readonly issueRef: string;
  readonly runId: string;
  readonly now: number;
  /** The result of the run; a run that has ended keeps the result it has. */
  readonly runResult: RunResult;
  readonly active: DecidedOrder & { readonly state: IssueState };
  readonly stale: Pick<DecidedOrder, 'decision' | 'result' | 'execution'>;
  /** For a run of a race; `active` then counts for nothing. */
  readonly race?: {
    readonly group: string;
    readonly entry: RaceEntry;
    /** Called inside the transaction, once every run has entered. */
    readonly conclude: (entries: readonly RaceEntry[]) => RaceConclusion;
  };
}

/** An order's decision with the rows that follow from it. */
export interface DecidedOrder {
  readonly decision: Decision;
  readonly result: WorkResult | null;
  readonly execution: ExecutionRecord;
  readonly item: InboxItem | null;
  readonly outbox: readonly NewOutboxMessage[];
}

/** The outcome of one run of a race; stored as JSON until the last one has entered. */
export interface RaceEntry {
  /** With the decision that the run would get alone. */
  readonly execution: Omit<Execution, 'id'> & { readonly order: WorkOrder };
  /** Lines that its change adds and removes; null if unknown. */
  readonly lines: number | null;
}

/** The end of a race. */
export interface RaceConclusion {
  /** The run whose result counts from now on; null if a person has to choose. */
  readonly winner: string | null;
  readonly state: IssueState;
  /** Every order of the race. */
  readonly orders: readonly (DecidedOrder & { readonly runId: string })[];
}

/** A person's decision about an item of the inbox. */
export interface ItemResolution {
  readonly id: string;
  readonly now: number;
  readonly resolution: Resolution;
  readonly state: IssueState;
  readonly execution: ExecutionRecord;
  readonly outbox: readonly NewOutboxMessage[];
  /**
   * For a retry: the order is submitted again under a new run id. It has no request id: a repeat of the request that had it
   * must still return the old order.
   */
  readonly retry?: Omit<OrderSubmission, 'now'> & { readonly request: { readonly request_id?: never } };
}

/** The outcome of a person's decision: recorded, too late, or about an unknown item. */
export type ResolveOutcome =
  | { readonly status: 'resolved'; readonly item: InboxItem; readonly order?: OrderRecord }
  | { readonly status: 'conflict'; readonly activeRunId: string | null; readonly resolution: InboxItem['resolution'] }
  | { readonly status: 'not_found' };
