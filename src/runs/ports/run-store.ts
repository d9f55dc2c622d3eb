import type { OrderRecord, RunRecord, RunResult, RunSpec, RunState, WorkerIdentity } from '../../records/index.js';

/** Filters for runs. */
export interface RunFilter {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: RunState;
  readonly engine?: string;
  /** Words that must all occur in its id, engine, issue, folder, program or prompt; case is ignored. */
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
  /** The model whose usage the run reported. */
  readonly model?: string;
  /** The version that the engine's program reported. */
  readonly engineVersion?: string;
}

/** The worker that claims a run, and the runs it can execute. */
export interface RunClaim {
  readonly worker: WorkerIdentity;
  readonly leaseMs: number;
  readonly now: number;
  /** Runs that carry an order, runs that do not, or both (default). */
  readonly takes?: readonly ('orders' | 'runs')[];
  /** The maximum number of orders of a wrapper type that may be claimed at the same time, over all machines. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** Only orders of these wrapper types; all by default. */
  readonly workerTypes?: readonly string[];
  /** The name under which the worker watches the queue. */
  readonly watcher?: string;
  /** Whether this is the worker's last run for now: other workers are woken instead of it until it claims again. */
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
   * Queues a run, or records one that is already running. An existing run is left unchanged: the one with that id, or the
   * one created under `requestId`. A different spec under that request id is refused with `REQUEST_ID_REUSED`.
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
   * Claims the next run that may start now: highest priority first, then oldest. A run whose folder is in use is skipped,
   * and so are orders of a wrapper type that is at its limit. Returns undefined if there is none.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | undefined>;
  /**
   * Records that the agent's process may be running from now on: the run is then not queued again if its claim expires. `spec` is
   * the spec that is executed; `baseCommit` is recorded with the order unless it has one, and `repositoryStart` is stored until the
   * run has ended. Returns `canceled` if cancellation was requested before the start, `lost` if the claim is no longer valid.
   */
  markStarted(
    hold: RunHold & { readonly spec?: RunSpec; readonly baseCommit?: string; readonly repositoryStart?: string },
  ): Promise<'started' | 'canceled' | 'lost'>;
  /**
   * Returns a claimed run to the queue, because its folder is in use elsewhere; it is not claimed again before `retryAt`. Returns
   * false if it was already started.
   */
  releaseRun(hold: RunHold & { readonly retryAt: number }): Promise<boolean>;
  /** Extends the lease, and returns requests made in the meantime. A returned reply counts as delivered: the run continues. */
  renewRun(
    hold: RunHold & { readonly leaseMs: number },
  ): Promise<{ readonly held: boolean; readonly cancel: boolean; readonly reply: string | null }>;
  /**
   * Records that the agent asked a question: from now on a reply is accepted. With `isOver`, replies are no longer accepted, and
   * the run continues. Returns false if the claim is no longer valid.
   */
  markWaiting(hold: RunHold & { readonly isOver?: boolean }): Promise<boolean>;
  /**
   * Takes over the claim of a lost worker on a started run; the state and a posted reply are kept. Returns undefined unless that
   * worker still has the claim and its lease has expired.
   */
  adoptRun(adoption: {
    readonly id: string;
    /** The lost worker. */
    readonly from: string;
    readonly worker: WorkerIdentity;
    readonly leaseMs: number;
    readonly now: number;
  }): Promise<RunRecord | undefined>;
  /** Ends a run that carries no order. Returns false if the claim is no longer valid: another worker has it. */
  endRun(end: RunHold & { readonly result: RunResult }): Promise<boolean>;
  /** Requests cancellation; a queued run that carries no order ends immediately. */
  requestCancel(id: string, now: number): Promise<RunRecord | undefined>;
  /**
   * Stores the reply to the question of a waiting run for its worker; `not_waiting` if the run is not waiting, or has not read its
   * last reply yet.
   */
  postReply(id: string, text: string): Promise<'posted' | 'not_waiting' | 'not_found'>;
  /** Calls `wake` when there may be a reply or a cancellation for a run; a call may be late, repeated or unnecessary. */
  watchRequests(id: string, wake: () => void): () => void;
  /** Whether the lease of any run has expired, or of any run of a host. */
  hasExpiredRuns(now: number, host?: string): Promise<boolean>;
  /** Returns runs whose claim expired before their process started to the queue; returns their number. */
  requeueExpired(now: number): Promise<number>;
  /** Returns the repository state that `markStarted` stored for a run that has not ended. */
  findRepositoryStart(id: string): Promise<string | undefined>;
  /**
   * Lists runs whose process had started and whose lease has expired, of all hosts or of one: a limited number per call, oldest
   * first, after the run `after`.
   */
  listExpiredRuns(
    now: number,
    wanted?: { readonly after?: string | undefined; readonly host?: string | undefined },
  ): Promise<readonly RunRecord[]>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /**
   * Lists runs, newest first. With filters other than state and engine, a page examines a limited number of runs: it may be short
   * or empty, and still have a next page.
   */
  listRuns(page: RunFilter): Promise<{ readonly items: readonly RunRecord[]; readonly next_cursor: string | null }>;
}
