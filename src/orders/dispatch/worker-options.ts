import type { Logger } from '../../base/index.js';
import type { Lead } from '../lead/create-lead.js';
import type { RunBudget, RunPorts } from '../../runs/index.js';
import type { SessionKeeper } from '../../runs/archive/index.js';
import type { Fleet, QueueNotifications, Store } from '../../store/index.js';
import type { EventLog, OrderStore, ResultCache, RunStore, StoreClock } from '../../store/ports/index.js';
import type { Labels, RunRecord } from '../../store/records/index.js';
import type { Slots } from './slots.js';

/** How long a claim is valid without being renewed, by default. */
export const DEFAULT_LEASE_MS = 30_000;

/** The part of a store that executes runs; a server implements it for workers without a database. */
export interface WorkerStore
  extends
    Pick<
      RunStore,
      | 'adoptRun'
      | 'claimRun'
      | 'createRun'
      | 'endRun'
      | 'findRepositoryStart'
      | 'findRun'
      | 'markStarted'
      | 'releaseRun'
      | 'renewRun'
      | 'setWaiting'
      | 'watchRequests'
    >,
    Pick<OrderStore, 'findOrder'>,
    Pick<Fleet, 'removeWorker' | 'reportWorker'>,
    EventLog,
    ResultCache,
    QueueNotifications,
    StoreClock {}

/** The part of a lead that executes orders. */
export type WorkerLead = Pick<
  Lead,
  'checks' | 'filters' | 'findPullRequest' | 'hasCommit' | 'maskText' | 'read' | 'repos' | 'settle' | 'wrappers'
>;

/** The outcome of a request for a share of the budgets. */
export type BudgetOutcome =
  | { readonly status: 'granted'; readonly budget?: RunBudget }
  /** Postponed: the run stays queued. */
  | { readonly status: 'wait'; readonly retryAt: number }
  /** Rejected until someone raises the budget. */
  | { readonly status: 'refused'; readonly message: string };

/** The run that requests a share of the budgets. */
export type BudgetedRun = Pick<RunRecord, 'id' | 'spec' | 'order'>;

/** Options for a worker: its store, and how much it claims. */
export interface WorkerOptions extends ClaimOptions {
  readonly store: Store;
  readonly lead: Lead;
  /**
   * How many times an order whose worker died is requeued, under a new run id: 1 by default where a placement attests
   * that nothing of it is left, otherwise 0.
   */
  readonly workerLostRetries?: number;
  /** Limits that all runs share; unlimited by default. */
  readonly budgets?: BudgetSettings;
}

/** Options for every worker, with a database or without. */
export interface ClaimOptions {
  /** Options for its runs; their events and cached results go to the store. */
  readonly runs?: RunPorts;
  /** The maximum number of concurrent runs; 4 by default. */
  readonly concurrency?: number;
  /** The maximum number of concurrent orders per wrapper type, across all workers. */
  readonly concurrencyByType?: Readonly<Record<string, number>>;
  /** Claims only orders of these wrapper types; all by default. */
  readonly workerTypes?: readonly string[];
  /** The labels of this worker: it claims only runs all of whose labels it has. */
  readonly labels?: Labels;
  /** Keeps the sessions of runs that wait for an answer, so that workers on other hosts can resume them; none by default. */
  readonly sessions?: SessionKeeper | undefined;
  /** Claims only runs that carry an order, or only runs that do not; both by default. */
  readonly kinds?: readonly ('orders' | 'runs')[];
  /** How long a claim is valid without being renewed; 30 seconds by default. */
  readonly leaseMs?: number;
  /** The maximum time between two polls for work; 30 seconds by default. Normally a notification comes first. */
  readonly pollMs?: number;
  /** How often it cleans up after crashed workers; the lease duration by default. */
  readonly reconcileMs?: number;
  /** Milliseconds since 1970; the store's clock by default. */
  readonly clock?: () => number;
  readonly newId?: () => string;
  readonly logger?: Logger;
}

/** A running worker. */
export interface Worker {
  readonly id: string;
  /** The number of runs it is executing now. */
  readonly busy: number;
  /** Looks for work now. */
  wake(): void;
  /**
   * Claims no more runs, waits for its current runs, delivers their comments. Runs that have not ended after `graceMs`
   * are stopped: their orders go to a human, runs without an order end as canceled.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/** The context shared by everything a worker executes. */
export interface WorkContext<S extends WorkerStore = WorkerStore> {
  readonly store: S;
  readonly lead: WorkerLead;
  readonly runs: RunPorts & { readonly data: string };
  readonly leaseMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Requests a share of the budgets; unlimited by default. */
  readonly requestBudget?: ((run: BudgetedRun, signal: AbortSignal) => Promise<BudgetOutcome>) | undefined;
  readonly sessions?: SessionKeeper | undefined;
  /** Whether this process exits instead of waiting for an answer, once the session is saved: the answer places the run again. */
  readonly leavesWaiting?: boolean;
  /** Without it, any number of runs can execute concurrently. */
  readonly slots?: Slots;
  /** Schedules a search for work at `moment` (by `clock`), when a released run can be claimed again. */
  readonly wakeAt?: (time: number) => void;
  /** The span of the order, for the runs that check its result. */
  readonly traceparent?: string | undefined;
  /** Aborted when the worker's grace period is over. */
  readonly signal: AbortSignal;
}

/**
 * Reasons a worker could not execute a run, besides the codes of thrown errors. A closed list: `docs/errors.md`
 * explains what to do about each.
 */
export const WORKER_FAILURE_CODES = ['WORKER_GONE', 'RUN_NOT_STARTED'] as const;

/** One of {@link WORKER_FAILURE_CODES}. */
export type WorkerFailureCode = (typeof WORKER_FAILURE_CODES)[number];

/** A limit on tokens, dollars or both. */
export interface BudgetAmount {
  readonly tokens?: number;
  /** US dollars, as engines report them. */
  readonly cost?: number;
}

/** The configured budgets. A day starts at midnight UTC. */
export interface BudgetSettings {
  /** The total for all runs in a day. */
  readonly day?: BudgetAmount;
  /** The limit for each issue, over all its runs in the last year. */
  readonly issue?: BudgetAmount;
  /** Daily limits for runs requested with a token, keyed by token name; `*` applies to every token not listed. */
  readonly callers?: Readonly<Record<string, BudgetAmount>>;
}
