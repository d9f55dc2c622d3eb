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
  Reading,
  OutboxMessage,
  SinkState,
} from '../records/index.js';

/** The clock for leases and records. */
export interface StoreClock {
  /** The store's time in milliseconds: the database's if hosts share it, so a wrong clock expires no leases. */
  now(): number;
}

/**
 * The store as the lead uses it. Each method is one transaction. Times are in milliseconds since 1970 and passed by the
 * caller, who gets them from `StoreClock`.
 */
export interface OrderStore {
  /**
   * Assigns the issue's next run id, makes it active, and queues a run that carries the order; the run it replaces is
   * asked to stop, or canceled if still queued. Open inbox items of the replaced run are resolved as `superseded`. A
   * repeated request id returns the existing order; a different request with that id is rejected with
   * `REQUEST_ID_REUSED`. With `rivals`, all orders are queued as one race, and the issue has an active group instead of
   * an active run.
   */
  submitOrder(submission: OrderSubmission): Promise<{
    readonly record: OrderRecord;
    /** The other orders of a race. */
    readonly rivals: readonly OrderRecord[];
    readonly repeated: boolean;
  }>;
  /**
   * Writes everything that follows from a result and ends the order's run, in one transaction. The first statement is
   * an update guarded by the active run, or by the active group in a race. In a race, a run's result is stored as its
   * entry; the last run to enter settles all of them in the same transaction.
   */
  settleOrder(settlement: OrderSettlement): Promise<{
    /** In an undecided race: the run's decision outside the race. */
    readonly decision: Decision;
    readonly repeated: boolean;
    /** The race's run ids that have not entered yet; absent if the order is decided. */
    readonly waitsFor?: readonly string[];
  }>;
  /**
   * Resolves an inbox item; `conflict` if its run is no longer active or it is already resolved. The issue leaves
   * `needs-human` with its last open item; a retry resolves all of them. Accepting a result in an undecided race makes
   * its run active and resolves the other items as superseded.
   */
  resolveItem(resolution: ItemResolution): Promise<ResolveOutcome>;

  findIssue(issueRef: string): Promise<IssueRecord | undefined>;
  findOrder(issueRef: string, runId: string): Promise<OrderRecord | undefined>;
  /**
   * `search`: words that the reference must all contain, ignoring case. A search reads a bounded number of issues per
   * page, so a page can be short, or even empty, and still have a next page.
   */
  listIssues(page: Page & { readonly state?: IssueState; readonly search?: string }): Promise<Listed<IssueRecord>>;
  /** `open`: only orders that are neither settled nor canceled. */
  listOrders(
    page: Page & { readonly issueRef?: string; readonly state?: OrderState; readonly open?: boolean },
  ): Promise<Listed<OrderRecord>>;
  findItem(id: string): Promise<InboxItem | undefined>;
  /** `open`: only unresolved items, or only resolved ones. */
  listInbox(
    page: Page & { readonly open?: boolean; readonly issueRef?: string; readonly order?: 'oldest' | 'newest' },
  ): Promise<Listed<InboxItem>>;
  listExecutions(page: Page & ExecutionFilter): Promise<Listed<ExecutionRecord>>;
}

/** Newest first, except for open orders and, by default, the inbox. */
export interface Page {
  readonly limit?: number;
  readonly cursor?: string;
}

/** One page of a list. `next_cursor` requests the next page; null at the end. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** Filters for executions; a missing filter matches everything. */
export interface ExecutionFilter {
  readonly issueRef?: string;
  readonly runId?: string;
  readonly worker?: string;
  readonly decision?: Decision['action'];
  /** Inclusive, in the format of `at`. */
  readonly since?: string;
  /** Exclusive. */
  readonly until?: string;
}

/** A request to be queued as an order. */
export interface OrderSubmission {
  readonly request: WorkRequest;
  readonly workerType: string;
  /** The run that will carry the order. */
  readonly run: string;
  /** The preliminary spec, until a worker prepares the real one: engine, folder. */
  readonly spec: StoredRunSpec;
  /** Formats a run id from the number that the store assigns: `2026-11-15-backend-0001`. */
  readonly makeRunId: (number: number) => string;
  /** Where the agent works if the request does not set it; `repository` by default. */
  readonly isolation?: 'repository' | 'worktree';
  /** For a retry: the base commit of the repeated order. */
  readonly baseCommit?: string | null;
  /** The other runs of a race. */
  readonly rivals?: readonly Rival[];
  /** Who submits it, for the inbox items that it replaces; `lead` by default. */
  readonly by?: string;
  /** Rejects the order with `ISSUE_UNDECIDED` if it would replace an undecided inbox item. */
  readonly keepsUndecided?: boolean;
  readonly now: number;
}

/** Another run of a race: the same request with another worker. */
export type Rival = Pick<OrderSubmission, 'request' | 'workerType' | 'run' | 'spec' | 'isolation'>;

/** The rows to write if the run is active, and the rows to write if it is not. */
export interface OrderSettlement {
  readonly issueRef: string;
  readonly runId: string;
  readonly now: number;
  /** Settles only if this worker holds the run; otherwise an earlier decision is returned, or `ORDER_NOT_FOUND` thrown. */
  readonly heldBy?: string;
  /** The result of the run; ignored if the run has already ended. */
  readonly runResult: RunResult;
  readonly active: DecidedOrder & { readonly state: IssueState };
  readonly stale: Pick<DecidedOrder, 'decision' | 'result' | 'execution'>;
  /** For a run of a race; `active` is then ignored. */
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

/** The outcome of one run in a race; stored as JSON until the last run has entered. */
export interface RaceEntry {
  /** Contains the run's decision outside the race. */
  readonly execution: Omit<Execution, 'id'> & { readonly order: WorkOrder };
  /** Lines that its change adds and removes; null if unknown. */
  readonly lines: number | null;
}

export interface RaceConclusion {
  /** The run whose result counts from now on; null if a human has to choose. */
  readonly winner: string | null;
  readonly state: IssueState;
  /** Every order of the race. */
  readonly orders: readonly (DecidedOrder & { readonly runId: string })[];
}

/** A human decision about an inbox item. */
export interface ItemResolution {
  readonly id: string;
  readonly now: number;
  readonly resolution: Resolution;
  readonly state: IssueState;
  readonly execution: ExecutionRecord;
  readonly outbox: readonly NewOutboxMessage[];
  /** For a retry: a new submission. Without a request id: the original's must still return the old order. */
  readonly retry?: Omit<OrderSubmission, 'now'> & { readonly request: { readonly request_id?: never } };
}

/** The outcome of a human decision: recorded, too late, or about an unknown item. */
export type ResolveOutcome =
  | { readonly status: 'resolved'; readonly item: InboxItem; readonly order?: OrderRecord }
  | { readonly status: 'conflict'; readonly activeRunId: string | null; readonly resolution: InboxItem['resolution'] }
  | { readonly status: 'not_found' };

/** One execution: the command, its exit, its parsed result, and the decision. */
export interface Execution {
  readonly id: string;
  readonly order: Pick<WorkOrder, 'issue_ref' | 'run_id' | 'worker'>;
  readonly run: string;
  readonly workerType: string;
  /** The command that was started; empty if nothing was started. */
  readonly command?: readonly string[];
  readonly workerVersion?: string | null;
  readonly startedAt?: string | null;
  readonly durationMs?: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reading: Reading;
  readonly decision: Decision;
  /** The user who decided; null if the rules did. */
  readonly who?: string | null;
  /** The time of the decision. */
  readonly at: string;
}

/** The comment queue. Each method is one transaction. At most one message per issue and sink is sent at a time. */
export interface OutboxStore {
  /** Returns the id of the installation: all processes that share this store. Created on first use; never changes. */
  readInstallation(): Promise<string>;
  /** Claims messages that are due, oldest first. A message whose lease has expired is due again. */
  claimOutbox(claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
    readonly limit: number;
    readonly sinks?: readonly string[];
  }): Promise<readonly OutboxMessage[]>;
  /** Returns false if the lease was lost: another process then delivers the message and finds its marker. */
  markDelivered(done: {
    readonly id: string;
    readonly workerId: string;
    readonly deliveredTo: string;
    readonly now: number;
  }): Promise<boolean>;
  /** Records a failed attempt; without `retryAt` the message is dead. The issue does not change. */
  markFailed(failure: {
    readonly id: string;
    readonly workerId: string;
    readonly error: string;
    readonly retryAt: number | null;
  }): Promise<boolean>;
  /**
   * Makes messages that are dead or waiting for their next attempt due immediately: one by id, or all messages for a
   * sink, oldest first, at most 1,000 per call. Returns their number. They might have been sent before, so the sender
   * first checks whether the sink already has them.
   */
  redeliver(filter: { readonly id: string } | { readonly sink: string }, now: number): Promise<number>;
  /** Lists sinks with undelivered comments, by name. */
  listSinks(): Promise<readonly SinkState[]>;
  /**
   * Records an error on messages that were due before `dueBefore` and belong to none of these sinks, oldest first.
   * Returns their sinks. They keep waiting: a worker with that sink delivers them. Messages that already have the error
   * are skipped.
   */
  recordStranded(stranded: {
    readonly sinks: readonly string[];
    readonly dueBefore: number;
    readonly error: string;
    readonly limit: number;
  }): Promise<readonly string[]>;
  listOutbox(
    page: Page & { readonly state?: OutboxMessage['state']; readonly issueRef?: string },
  ): Promise<Listed<OutboxMessage>>;
}
