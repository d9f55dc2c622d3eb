import { LOG_END, LOG_START, getPosition, readPosition } from '../../events/index.js';
import { isSluiceError } from '../../base/index.js';
import type { Emitted, EventPack, LogPosition } from '../../events/index.js';

/** Stores run events before they are published. */
export interface EventLog {
  /**
   * Appends a run's events, in order; an existing event (same protocol, attempt and seq) is left unchanged. `packs`
   * contains the same events in packed form, if the caller has them.
   */
  append(runId: string, events: readonly Emitted[], packs?: readonly EventPack[]): Promise<void>;
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
  /**
   * Calls `wake` after events are added to the run, and in a store after the run has ended, until the returned function
   * is called.
   */
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
