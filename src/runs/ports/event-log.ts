import { LOG_END, LOG_START, readPosition } from '../../events/index.js';
import { isSluiceError } from '../../base/index.js';
import type { Emitted, EventPack, LogPosition } from '../../events/index.js';

/** Where the events of runs are stored before they are published. */
export interface EventLog {
  /**
   * Adds events of a run, in their order; one that exists already (same protocol, attempt and seq) is left unchanged.
   * `packs` are the same events, where the caller has packed them already.
   */
  append(runId: string, events: readonly Emitted[], packs?: readonly EventPack[]): Promise<void>;
  /**
   * Events of one protocol in order, from after a position. For FCMP `after` is a seq; for RASP `attempt:seq`. May give
   * fewer than asked for; none means that there are no more, for now.
   */
  read(query: EventQuery): Promise<readonly Emitted[]>;
  /**
   * The data folder whose run folders this log consists of. A run in that folder writes the files itself, so it does
   * not append to this log.
   */
  readonly dataFolder?: string;
}

/** The events of a run to read, and the position to start after. */
export interface EventQuery {
  readonly runId: string;
  readonly protocol: 'rasp' | 'fcmp';
  readonly after?: string | number;
  /** The last position wanted, inclusive. */
  readonly to?: string | number;
  /** At least 1 and at most 10,000, whatever is asked for. */
  readonly limit: number;
}

/** A log that notifies when there is more to read, also of events another machine has written. */
export interface WatchableEventLog extends EventLog {
  /** Calls back after events of the run were added, and in a store after it has ended, until the returned function is called. */
  watch(runId: string, wake: () => void): () => void;
}

/** The part of a log a query asks for: after one position, up to and including another. */
export interface EventRange {
  readonly after: LogPosition;
  readonly to: LogPosition;
  readonly limit: number;
}

/** The most events one page holds, whatever is asked for. */
const MAX_EVENTS = 10_000;

/**
 * The range of a query, by one rule for every event log. The limit is at least 1, because an empty page means that
 * there are no more. Throws `INVALID_POSITION`.
 */
export function readEventRange({ protocol, after, to, limit }: EventQuery): EventRange {
  return {
    after: after === undefined ? LOG_START : readPosition(protocol, after),
    to: to === undefined ? LOG_END : readPosition(protocol, to),
    limit: Math.max(1, Math.min(MAX_EVENTS, Math.floor(limit) || 1)),
  };
}

/** Error codes of a temporary outage: repeating the call may succeed. Any other error would only recur. */
const OUTAGES: readonly string[] = ['STORE_BUSY', 'STORE_FAILED', 'STORE_UNAVAILABLE'];

/** Whether a call failed because the store is temporarily unavailable, so that a retry makes sense. */
export function isOutage(error: unknown): boolean {
  return isSluiceError(error) && OUTAGES.includes(error.code);
}
