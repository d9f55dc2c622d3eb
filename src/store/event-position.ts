import type { Emitted } from '../events/index.js';
import type { EventQuery } from '../runs/ports/event-log.js';
import { StoreError } from './store-error.js';

/** Where an event stands in its run. FCMP counts through all attempts, so its attempt is 0 here. */
export interface EventPosition {
  readonly attempt: number;
  readonly seq: number;
}

/** The most events one read returns, so that a reader of a long run pages. */
const LARGEST_READ = 10_000;

/** The position of an event. */
export function positionOf(emitted: Emitted): EventPosition {
  return emitted.protocol === 'rasp'
    ? { attempt: emitted.event.attempt_number, seq: emitted.event.seq }
    : { attempt: 0, seq: emitted.event.seq };
}

/** The range of positions a query asks for: behind `after`, up to and including `to`. */
export function readRange(query: EventQuery): { after: EventPosition; to: EventPosition; limit: number } {
  return {
    after: query.after === undefined ? { attempt: 0, seq: 0 } : readPosition(query.protocol, query.after),
    to: query.to === undefined ? LAST : readPosition(query.protocol, query.to),
    limit: Math.max(0, Math.min(LARGEST_READ, Math.trunc(query.limit) || 0)),
  };
}

/** Beyond every event: PostgreSQL and SQLite both hold it as an ordinary integer. */
const LAST: EventPosition = { attempt: 2_147_483_647, seq: 2_147_483_647 };

function readPosition(protocol: EventQuery['protocol'], value: string | number): EventPosition {
  const [, attempt, seq] = /^(?:([0-9]{1,9}):)?([0-9]{1,9})$/.exec(String(value)) ?? [];
  if (seq === undefined || (attempt === undefined) !== (protocol === 'fcmp')) {
    const form = protocol === 'fcmp' ? 'a seq such as 17' : 'attempt and seq such as 1:17';
    throw new StoreError('INVALID_POSITION', `a position in ${protocol} events is ${form}`);
  }
  return { attempt: Number(attempt ?? 0), seq: Number(seq) };
}
