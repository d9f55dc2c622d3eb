import { LOG_START } from '../../audit/logs/event-pages.js';
import type { LogPosition } from '../../audit/logs/event-pages.js';
import { SluiceError } from '../../json/index.js';
import type { EventQuery } from './event-log.js';

/** The part of a log a query asks for. */
export interface EventRange {
  readonly after: LogPosition;
  /** Inclusive; undefined for all there are. */
  readonly to: LogPosition | undefined;
  readonly limit: number;
}

/** The most events one page holds, whatever is asked for. */
const MOST_EVENTS = 10_000;

/** Reads the positions of a query; throws `INVALID_POSITION` for what is none. */
export function rangeOf({ protocol, after, to, limit }: EventQuery): EventRange {
  return {
    after: after === undefined ? LOG_START : positionFrom(protocol, after),
    to: to === undefined ? undefined : positionFrom(protocol, to),
    limit: Math.max(1, Math.min(MOST_EVENTS, Math.floor(limit))),
  };
}

function positionFrom(protocol: EventQuery['protocol'], word: string | number): LogPosition {
  const [, attempt, seq] = /^(?:(\d{1,9}):)?(\d{1,9})$/.exec(String(word)) ?? [];
  if (seq !== undefined && (attempt === undefined) === (protocol === 'fcmp')) {
    return { attempt: Number(attempt ?? 0), seq: Number(seq) };
  }
  const form = protocol === 'fcmp' ? 'a number such as 17' : 'attempt and number such as 1:17';
  throw new SluiceError('INVALID_POSITION', `${JSON.stringify(word)} is no place in ${protocol} events; give ${form}.`);
}
