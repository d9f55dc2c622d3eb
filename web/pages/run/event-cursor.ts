import type { RaspEvent } from '../../../src/events/index.js';
import type { RunEvent } from './share-stream.js';

/** The read position in a run's two logs. */
export interface EventCursor {
  /** Compares an event with the position in its log: it is the next event, was already read, or comes after a gap. */
  readonly compare: (event: RunEvent) => 'next' | 'known' | 'later';
  readonly advance: (event: RunEvent) => void;
  /** Returns the position where a stream of both logs resumes; undefined at the start. */
  readonly after: () => string | undefined;
  /** Returns the position where a log's history continues; undefined at the start. */
  readonly from: (log: 'fcmp' | 'rasp') => string | undefined;
}

/** Whether an event belongs to the RASP log. */
export function isRasp(event: RunEvent): event is RaspEvent {
  return 'attempt_number' in event;
}

/** Creates a cursor positioned before the first event. */
export function createEventCursor(): EventCursor {
  let fcmp = 0;
  let rasp = { attempt: 0, seq: 0 };
  return {
    compare(event) {
      if (!isRasp(event)) return compareDistance(event.seq - fcmp);
      const { attempt_number: attempt, seq } = event;
      if (attempt === rasp.attempt) return compareDistance(seq - rasp.seq);
      if (attempt < rasp.attempt) return 'known';
      return attempt === rasp.attempt + 1 && seq === 1 ? 'next' : 'later';
    },
    advance(event) {
      if (isRasp(event)) rasp = { attempt: event.attempt_number, seq: event.seq };
      else fcmp = event.seq;
    },
    after: () => (fcmp === 0 && rasp.seq === 0 ? undefined : `${fcmp},${rasp.attempt}:${rasp.seq}`),
    from(log) {
      if (log === 'fcmp') return fcmp === 0 ? undefined : String(fcmp + 1);
      return rasp.seq === 0 ? undefined : `${rasp.attempt}:${rasp.seq + 1}`;
    },
  };
}

function compareDistance(distance: number): 'next' | 'known' | 'later' {
  if (distance === 1) return 'next';
  return distance < 1 ? 'known' : 'later';
}
