import { LOG_END, LOG_START, readPosition } from '../../events/index.js';
import { isSluiceError } from '../../base/index.js';
import type { Emitted, EventPack, LogPosition } from '../../events/index.js';

/** Stores the events of runs before they are published. */
export interface EventLog {
  /**
   * Appends events of a run, in order; an event that already exists (same protocol, attempt and seq) is left unchanged. `packs`
   * are the same events in packed form, if the caller has them.
   */
  append(runId: string, events: readonly Emitted[], packs?: readonly EventPack[]): Promise<void>;
  /**
   * Returns events of one protocol in order, after a position. For FCMP `after` is a seq; for RASP `attempt:seq`. May return fewer
   * than requested; an empty list means that there are no more yet.
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
  /** The last position, inclusive. */
  readonly to?: string | number;
  /** Values below 1 count as 1, values above 10,000 as 10,000. */
  readonly limit: number;
}

/** A log that notifies readers of new events, including those that another machine has written. */
export interface WatchableEventLog extends EventLog {
  /** Calls `wake` after events of the run were added, and in a store after the run has ended, until the returned function is called. */
  watch(runId: string, wake: () => void): () => void;
}

/** The part of a log that a query selects: after one position, up to and including another. */
export interface EventRange {
  readonly after: LogPosition;
  readonly to: LogPosition;
  readonly limit: number;
}

/** The maximum number of events per page. */
const MAX_EVENTS = 10_000;

/**
 * Reads the range of a query; all event logs use this function. The limit is at least 1, because an empty page means that there
 * are no more events. Throws `INVALID_POSITION`.
 */
export function readEventRange({ protocol, after, to, limit }: EventQuery): EventRange {
  return {
    after: after === undefined ? LOG_START : readPosition(protocol, after),
    to: to === undefined ? LOG_END : readPosition(protocol, to),
    limit: Math.max(1, Math.min(MAX_EVENTS, Math.floor(limit) || 1)),
  };
}

/** Error codes of a temporary outage, after which a retry may succeed. */
const OUTAGES: readonly string[] = ['STORE_BUSY', 'STORE_FAILED', 'STORE_UNAVAILABLE'];

/** Whether a call failed because the store is temporarily unavailable, so that a retry makes sense. */
export function isOutage(error: unknown): boolean {
  return isSluiceError(error) && OUTAGES.includes(error.code);
}
