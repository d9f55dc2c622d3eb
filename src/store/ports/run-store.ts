import type {
  OrderRecord,
  RefusedAnswer,
  RunRecord,
  RunResult,
  RunSpec,
  RunState,
  WorkerIdentity,
} from '../records/index.js';

/** Filters for runs. */
export interface RunFilter {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: RunState;
  readonly engine?: string;
  /** Words that must all occur in its id, engine, issue, folder, executable or prompt, ignoring case. */
  readonly search?: string;
  readonly outcome?: RunResult['status'];
  readonly repairLevel?: RunResult['repair_level'];
  /** Created at this time or later. */
  readonly since?: number;
  /** Created before this time. */
  readonly until?: number;
  /** Ended at this time or later. */
  readonly endedSince?: number;
  /** Ended before this time. */
  readonly endedUntil?: number;
  /** The model that the run reported usage for. */
  readonly model?: string;
  /** The version reported by the engine's executable. */
  readonly engineVersion?: string;
}

/** A worker claiming a run, and the runs it can execute. */
export interface RunClaim {
  readonly worker: WorkerIdentity;
  readonly leaseMs: number;
  readonly now: number;
  /** Runs with an order, runs without, or both (default). */
  readonly kinds?: readonly ('orders' | 'runs')[];
  /** The maximum number of concurrently claimed orders of a wrapper type, across all hosts. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** Only orders of these wrapper types; all by default. */
  readonly workerTypes?: readonly string[];
  /** The name under which the worker watches the queue. */
  readonly watcher?: string;
  /** Whether this is the worker's last run for now; until it claims again, other workers are woken instead. */
  readonly isLast?: boolean;
}

/** A claimed run and, if it carries one, its order. */
export interface ClaimedRun {
  readonly record: RunRecord;
  readonly order: OrderRecord | null;
  /** The issues of the order's `depends_on` that are neither in review nor done. */
  readonly unresolved: readonly string[];
}

/** A run and the worker that has claimed it. */
export interface RunHold {
  readonly id: string;
  readonly workerId: string;
  readonly now: number;
}

/** The queue of runs, and their records. Each method is one transaction; times are milliseconds since 1970. */
export interface RunStore {
  /**
   * Queues a run, or records a run that is already running. If a run with this id exists, or one was created under
   * `requestId`, it is left unchanged. A different spec under the same request id is rejected with `REQUEST_ID_REUSED`.
   */
  createRun(run: {
    readonly id: string;
    readonly spec: RunSpec;
    readonly state: 'queued' | 'running';
    readonly requestId?: string;
    /** The worker that executes a run that is already running. */
    readonly workerId?: string;
    readonly leaseMs?: number;
    readonly now: number;
  }): Promise<{ readonly id: string; readonly repeated: boolean }>;
  /**
   * Claims the next run that may start now: highest priority first, then oldest. Skips runs whose folder is in use, and
   * orders of a wrapper type that is at its limit. Returns undefined if there is nothing to claim.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | undefined>;
  /**
   * Records that the agent's process can be running from now on, so the run is not queued again if its claim expires.
   * `spec` is the spec being executed; `baseCommit` is recorded with the order unless it has one, and `repositoryStart`
   * is stored until the run has ended. Returns `canceled` if cancellation was requested before the start, or `lost` if
   * the claim is no longer valid.
   */
  markStarted(
    hold: RunHold & { readonly spec?: RunSpec; readonly baseCommit?: string; readonly repositoryStart?: string },
  ): Promise<'started' | 'canceled' | 'lost'>;
  /**
   * Returns a claimed run to the queue, because its folder is in use elsewhere; it is not claimed again before
   * `retryAt`. Returns false if it was already started.
   */
  releaseRun(hold: RunHold & { readonly retryAt: number }): Promise<boolean>;
  /**
   * Extends the lease and returns requests made since the last call. A returned reply counts as delivered: the run
   * continues.
   */
  renewRun(
    hold: RunHold & { readonly leaseMs: number },
  ): Promise<{ readonly held: boolean; readonly cancel: boolean; readonly reply: string | null }>;
  /**
   * Records that the agent asked a question: from now on a reply is accepted. With `isWaiting: false`, replies are no longer
   * accepted, and the run continues. Returns false if the claim is no longer valid.
   */
  setWaiting(hold: RunHold & { readonly isWaiting?: boolean }): Promise<boolean>;
  /**
   * Takes over a lost worker's claim on a started run, keeping the state and any posted reply. Returns undefined unless
   * that worker still holds the claim and its lease has expired.
   */
  adoptRun(adoption: {
    readonly id: string;
    /** The lost worker. */
    readonly from: string;
    readonly worker: WorkerIdentity;
    readonly leaseMs: number;
    readonly now: number;
  }): Promise<RunRecord | undefined>;
  /** Ends a run without an order. Returns false if the claim is no longer valid, because another worker holds it. */
  endRun(end: RunHold & { readonly result: RunResult }): Promise<boolean>;
  /** Requests cancellation; a queued run without an order ends immediately. */
  requestCancel(id: string, now: number): Promise<RunRecord | undefined>;
  /**
   * Stores the reply to a waiting run's question for its worker; `not_waiting` if the run is not waiting or has not
   * read its last reply yet.
   */
  postReply(id: string, text: string): Promise<'posted' | 'not_waiting' | 'not_found'>;
  /** Keeps an answer to a permission request that the run cannot use any more, with the run; the oldest are dropped. */
  keepRefusedAnswer(id: string, answer: RefusedAnswer): Promise<void>;
  /**
   * Calls `wake` when there might be a reply or a cancellation for a run; calls can be late, repeated or unnecessary.
   */
  watchRequests(id: string, wake: () => void): () => void;
  /** Whether any run's lease has expired, on all hosts or on one. */
  hasExpiredRuns(now: number, host?: string): Promise<boolean>;
  /** Requeues runs whose claim expired before their process started; returns the number of requeued runs. */
  requeueExpired(now: number): Promise<number>;
  /** Returns the repository state stored by `markStarted` for a run that has not ended. */
  findRepositoryStart(id: string): Promise<string | undefined>;
  /**
   * Lists started runs whose lease has expired, on all hosts or on one: a limited number per call, oldest first, after
   * the run `after`.
   */
  listExpiredRuns(
    now: number,
    wanted?: { readonly after?: string | undefined; readonly host?: string | undefined },
  ): Promise<readonly RunRecord[]>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /**
   * Lists runs, newest first. With filters other than state and engine, each page examines a limited number of runs, so
   * it can be short or empty and still have a next page.
   */
  listRuns(page: RunFilter): Promise<{ readonly items: readonly RunRecord[]; readonly next_cursor: string | null }>;
}
