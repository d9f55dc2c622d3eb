import type {
  Labels,
  OrderRecord,
  RefusedAnswer,
  RunRecord,
  RunResult,
  RunSpec,
  RunState,
  WorkerIdentity,
} from '../records/index.js';
import { createHash } from 'node:crypto';
import {
  LOG_END,
  LOG_START,
  getPosition,
  readPosition,
  type Emitted,
  type EventPack,
  type LogPosition,
} from '../../events/index.js';
import { isSluiceError } from '../../base/index.js';
import type { Listed, Page } from './order-store.js';

export interface RunFilter extends Page {
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
  /** The worker's labels: it claims only runs all of whose labels it has. */
  readonly labels?: Labels;
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

/** A run whose claim moves from one worker to another. */
export interface RunAdoption extends Pick<RunClaim, 'worker' | 'leaseMs' | 'now'> {
  readonly id: string;
  readonly from: string;
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
    /** The run whose result it checks, under whose claim it is executed. */
    readonly checks?: string;
    readonly now: number;
  }): Promise<{ readonly id: string; readonly repeated: boolean }>;
  /**
   * Claims the next run that may start now: highest priority first, then the callers in turn, then oldest. Skips runs
   * whose folder is in use on the worker's host, runs with labels that the worker lacks, and orders of a wrapper type that
   * is at its limit. Returns undefined if there is nothing to claim.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | undefined>;
  /**
   * Records that the agent's process can be running from now on, so the run is not queued again if its claim expires.
   * `spec` is the spec being executed for an order, stored without its prompt; `baseCommit` is recorded with the order unless it has one, and `repositoryStart`
   * is stored until the run has ended. Returns `canceled` if cancellation was requested before the start, or `lost` if
   * the claim is no longer valid.
   */
  markStarted(
    hold: RunHold & { readonly spec?: RunSpec; readonly baseCommit?: string; readonly repositoryStart?: string },
  ): Promise<'started' | 'canceled' | 'lost'>;
  /**
   * Returns a claimed run to the queue, because its folder is in use elsewhere; it is not claimed again before
   * `retryAt`. Returns false if it was already started, unless `isWaiting`: a run that waits for an answer, and whose
   * session was saved, is queued to be resumed.
   */
  releaseRun(hold: RunHold & { readonly retryAt: number; readonly isWaiting?: boolean }): Promise<boolean>;
  /**
   * Extends the lease and returns requests made since the last call. A returned reply counts as delivered: the run
   * continues. Calls made at the same time are one statement.
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
  adoptRun(adoption: RunAdoption): Promise<RunRecord | undefined>;
  /** Ends a run without an order. Returns false if the claim is no longer valid, because another worker holds it. */
  endRun(end: RunHold & { readonly result: RunResult }): Promise<boolean>;
  /** Requests cancellation; a queued run without an order ends immediately. */
  requestCancel(id: string, now: number): Promise<RunRecord | undefined>;
  /** Stores the reply to a waiting run; `not_waiting` also if its last reply was not read yet. */
  postReply(id: string, text: string): Promise<'posted' | 'not_waiting' | 'not_found'>;
  /** Keeps an answer to a permission request that the run cannot use any more, with the run; the oldest are dropped. */
  keepRefusedAnswer(id: string, answer: RefusedAnswer): Promise<void>;
  /** Calls `wake` when there might be a reply or a cancellation for a run. */
  watchRequests(id: string, wake: () => void): () => void;
  /** Whether any run's lease has expired, on all hosts or on one. */
  hasExpiredRuns(now: number, host?: string): Promise<boolean>;
  /** Requeues runs whose claim expired before their process started; returns the number of requeued runs. */
  requeueExpired(now: number): Promise<number>;
  /** Returns the repository state stored by `markStarted` for a run that has not ended. */
  findRepositoryStart(id: string): Promise<string | undefined>;
  /** Lists started runs whose lease has expired, oldest first, after the run `after`; a limited number. */
  listExpiredRuns(
    now: number,
    wanted?: { readonly after?: string | undefined; readonly host?: string | undefined },
  ): Promise<readonly RunRecord[]>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /** Lists runs, newest first. Most filters examine a limited number per page, so an empty page can have a next. */
  listRuns(page: RunFilter): Promise<Listed<RunRecord>>;
  /** Counts the runs that a filter finds; undefined if too many runs would have to be read. */
  countRuns(filter: Omit<RunFilter, keyof Page>): Promise<number | undefined>;
}

/** Results of successful runs, by key. */
export interface ResultCache {
  /** Returns undefined for a miss; an unreadable entry counts as a miss. */
  find(key: string): Promise<CachedResult | undefined>;
  cacheResult(key: string, entry: CachedResult): Promise<void>;
}

/** A cached result, with the run it came from. */
export interface CachedResult {
  readonly run_id: string;
  readonly result: RunResult;
  readonly cached_at: string;
  /** The files that the run wrote; their content is in the data folder, by hash. */
  readonly files?: readonly CachedFile[];
}

export interface CachedFile {
  readonly path: string;
  readonly change: 'created' | 'modified';
  readonly sha256: string;
  readonly executable: boolean;
}

/** Result cache limits. An entry larger than the cache is not stored. */
export interface CacheLimits {
  readonly entries?: number;
  /** The total size of all entries, as text. */
  readonly bytes?: number;
}

/** The default limits: a thousand typical results. */
export const CACHE_LIMITS: Readonly<Required<CacheLimits>> = { entries: 1000, bytes: 64 * 1024 * 1024 };

/** Formats an entry as text, with a hash that detects damage. */
export function formatCacheEntry(key: string, entry: CachedResult): string {
  const text = JSON.stringify(entry);
  return `${JSON.stringify({ key, sha256: hashText(text) })}\n${text}\n`;
}

/** Parses an entry; undefined if it is damaged, belongs to another key, or is not a result. */
export function parseCacheEntry(key: string, text: string): CachedResult | undefined {
  const [head = '', body = ''] = text.split('\n');
  try {
    const { key: storedKey, sha256 } = JSON.parse(head) as Record<string, unknown>;
    if (storedKey !== key || sha256 !== hashText(body)) return undefined;
    const entry = JSON.parse(body) as Partial<CachedResult> | null;
    const isValid = typeof entry?.run_id === 'string' && entry.result?.status === 'success';
    return isValid ? (entry as CachedResult) : undefined;
  } catch {
    return undefined;
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Stores run events before they are published. */
export interface EventLog {
  /**
   * Appends a run's events, in order; an existing event (same protocol, attempt and seq) is left unchanged. `packs`
   * contains the same events in packed form, if the caller has them. With `heldBy`, nothing is stored unless that worker
   * holds the run when the events are written: `ORDER_NOT_FOUND`.
   */
  append(runId: string, events: readonly Emitted[], packs?: readonly EventPack[], heldBy?: string): Promise<void>;
  /**
   * Returns events of one protocol in order, after a position. For FCMP, `after` is a seq; for RASP, `attempt:seq`. Can
   * return fewer events than requested; an empty list means that no more exist yet.
   */
  read(query: EventQuery): Promise<readonly Emitted[]>;
}

/** Selects a run's events to read, and the position to start after. */
export interface EventQuery {
  readonly runId: string;
  readonly protocol: 'rasp' | 'fcmp';
  readonly after?: string | number;
  /** The last position, inclusive. */
  readonly to?: string | number;
  /** Values below 1 count as 1, values above 10,000 as 10,000. */
  readonly limit: number;
}

/** A log that notifies readers of new events, including events written by other hosts. */
export interface WatchableEventLog extends EventLog {
  /** Calls `wake` after events are added to the run, until the returned function is called. */
  watch(runId: string, wake: () => void): () => void;
}

/** The range of a log selected by a query: after one position, up to and including another. */
export interface EventRange {
  readonly after: LogPosition;
  readonly to: LogPosition;
  readonly limit: number;
}

/** The maximum number of events per page. */
const MAX_EVENTS = 10_000;

/**
 * Parses a query's range; all event logs use this function. The limit is at least 1, because an empty page means that
 * there are no more events. Throws `INVALID_POSITION`.
 */
export function readEventRange({ protocol, after, to, limit }: EventQuery): EventRange {
  return {
    after: after === undefined ? LOG_START : readPosition(protocol, after),
    to: to === undefined ? LOG_END : readPosition(protocol, to),
    limit: Math.max(1, Math.min(MAX_EVENTS, Math.floor(limit) || 1)),
  };
}

/** The number of events per read. */
const PAGE_SIZE = 1000;

/** Reads all events of a run, page by page. */
export async function* readEventLog(
  log: Pick<EventLog, 'read'>,
  runId: string,
  protocol: EventQuery['protocol'],
): AsyncGenerator<Emitted> {
  let page = await log.read({ runId, protocol, limit: PAGE_SIZE });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield* page;
    const { attempt, seq } = getPosition(last);
    page = await log.read({
      runId,
      protocol,
      after: protocol === 'fcmp' ? seq : `${attempt}:${seq}`,
      limit: PAGE_SIZE,
    });
  }
}

/** Error codes of a temporary outage, after which a retry can succeed. */
const OUTAGE_CODES: readonly string[] = ['STORE_BUSY', 'STORE_FAILED', 'STORE_UNAVAILABLE'];

/** Whether a call failed because the store is temporarily unavailable, so it should be retried. */
export function isOutage(error: unknown): boolean {
  return isSluiceError(error) && OUTAGE_CODES.includes(error.code);
}
