import { LOG_END, LOG_START, readPosition } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { EventQuery } from './event-log.js';

/** The part of a log a query asks for: behind one position, up to and including another. */
export interface EventRange {
  readonly after: LogPosition;
  readonly to: LogPosition;
  readonly limit: number;
}

/** The most events one page holds, whatever is asked for. */
const MOST_EVENTS = 10_000;

/**
 * The range of a query, by one rule for every event log. A page is never asked to be empty, since an empty one means that
 * there are no more. Throws `INVALID_POSITION`.
 */
export function rangeOf({ protocol, after, to, limit }: EventQuery): EventRange {
  return {
    after: after === undefined ? LOG_START : readPosition(protocol, after),
    to: to === undefined ? LOG_END : readPosition(protocol, to),
    limit: Math.max(1, Math.min(MOST_EVENTS, Math.floor(limit) || 1)),
  };
}
