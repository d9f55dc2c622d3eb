import type { OrderRecord, RunRecord, RunResult, RunSpec, RunState, WorkerIdentity } from '../../records/index.js';

/** Filters for runs. */
export interface RunFilter {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: RunState;
  readonly engine?: string;
  /** Words that must all occur, in any case, in its id, engine, issue, folder, program or prompt. */
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

/** The worker that requests a run, and the runs it can execute. */
export interface RunClaim {
  readonly worker: WorkerIdentity;
  readonly leaseMs: number;
  readonly now: number;
  /** Runs that carry an order, runs that do not, or both (default). */
  readonly takes?: readonly ('orders' | 'runs')[];
  /** How many orders of a worker type may be claimed at once, over all machines. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** Only orders of these worker types; all by default. */
  readonly workerTypes?: readonly string[];
  /** The name under which the worker watches the queue. */
  readonly watcher?: string;
  /** The worker takes nothing more after this run: others are woken instead of it until it asks again. */
  readonly isLast?: boolean;
}

/** A claimed run and, if it carries one, its order. */
export interface ClaimedRun {
  readonly record: RunRecord;
  readonly order: OrderRecord | null;
  /** The issues of the order's `depends_on` that are neither in review nor done. */
  readonly unresolved: readonly string[];
}

/** A run and the worker that holds it. */
export interface RunHold {
  readonly id: string;
  readonly workerId: string;
  readonly now: number;
}

/** The queue of runs, and what is known of each. Each method is one transaction; times are milliseconds since 1970. */
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
   * Claims the next run that may start now: highest priority first, then oldest. A run whose folder is in use is passed
   * over, and so are orders of a worker type that is at its limit. Undefined if there is none.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | undefined>;
  /**
   * From here on the agent's process may be running: an expired claim is no longer queued again. `spec` is what is really
   * executed; `baseCommit` is recorded with the order unless it has one, and `repositoryStart` is kept until the run has
   * ended. `canceled` if cancellation was requested before the start, `lost` if the claim is not held any more.
   */
  markStarted(
    hold: RunHold & { readonly spec?: RunSpec; readonly baseCommit?: string; readonly repositoryStart?: string },
  ): Promise<'started' | 'canceled' | 'lost'>;
  /**
   * Puts a claimed run back into the queue, which must not be claimed again before `retryAt`: its folder is in use
   * elsewhere. False once it was started.
   */
  releaseRun(hold: RunHold & { readonly retryAt: number }): Promise<boolean>;
  /** Extends the lease; returns what was requested of the run meanwhile. A returned reply counts as taken: the run continues. */
  renewRun(
    hold: RunHold & { readonly leaseMs: number },
  ): Promise<{ readonly held: boolean; readonly cancel: boolean; readonly reply: string | null }>;
  /**
   * The agent has asked: from here on a reply is accepted; with `isOver` no longer, and the run continues. False if the
   * claim is no longer held.
   */
  markWaiting(hold: RunHold & { readonly isOver?: boolean }): Promise<boolean>;
  /**
   * Takes over the claim of a worker that is gone on a run that was started; state and posted reply stay. Undefined unless that
   * worker still holds the claim and its lease has expired.
   */
  adoptRun(adoption: {
    readonly id: string;
    /** The worker that is gone. */
    readonly from: string;
    readonly worker: WorkerIdentity;
    readonly leaseMs: number;
    readonly now: number;
  }): Promise<RunRecord | undefined>;
  /** Ends a run that carries no order. False if the claim is no longer held: another worker decides. */
  endRun(end: RunHold & { readonly result: RunResult }): Promise<boolean>;
  /** Asks a run to end; one that is queued and carries no order ends at once. */
  requestCancel(id: string, now: number): Promise<RunRecord | undefined>;
  /** Stores the reply to the question of a waiting run for its worker; `not_waiting` if the run does not wait. */
  postReply(id: string, text: string): Promise<'posted' | 'not_waiting' | 'not_found'>;
  /** Calls back when a reply or a cancellation may wait for a run; a call may come late, twice or for nothing. */
  watchRequests(id: string, wake: () => void): () => void;
  /** Whether the lease of any run has expired, or of any run of a host. */
  hasExpiredRuns(now: number, host?: string): Promise<boolean>;
  /** Puts claims that expired before their process started back into the queue; returns how many. */
  requeueExpired(now: number): Promise<number>;
  /** Returns the repository state that `markStarted` stored for a run that has not ended. */
  findRepositoryStart(id: string): Promise<string | undefined>;
  /**
   * Runs whose process had started and whose lease has expired, of all hosts or of one, a bounded number at a time: oldest
   * first, those after `after`.
   */
  listExpiredRuns(
    now: number,
    wanted?: { readonly after?: string | undefined; readonly host?: string | undefined },
  ): Promise<readonly RunRecord[]>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /**
   * Newest first. With more filters than state and engine, a page looks at a bounded number of runs: it may be short, or
   * empty, and still have a next one.
   */
  listRuns(page: RunFilter): Promise<{ readonly items: readonly RunRecord[]; readonly next_cursor: string | null }>;
}
