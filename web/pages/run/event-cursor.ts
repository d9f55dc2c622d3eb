import type { RaspEvent } from '../../../src/events/index.js';
import type { RunEvent } from './share-stream.js';

/** How far the two logs of a run were read. */
export interface EventCursor {
  /** The relation of an event to what was read: the next one of its log, a known one, or one after a gap. */
  readonly place: (event: RunEvent) => 'next' | 'known' | 'later';
  readonly advance: (event: RunEvent) => void;
  /** Where a stream of both logs resumes; undefined at the start. */
  readonly after: () => string | undefined;
  /** Where the history of a log continues; undefined at the start. */
  readonly from: (log: 'fcmp' | 'rasp') => string | undefined;
}

/** Whether an event is of the raw log. */
export function isRasp(event: RunEvent): event is RaspEvent {
  return 'attempt_number' in event;
}

/** Creates a cursor before the first event. */
export function createEventCursor(): EventCursor {
  let fcmp = 0;
  let rasp = { attempt: 0, seq: 0 };
  return {
    place(event) {
      if (!isRasp(event)) return compare(event.seq - fcmp);
      const { attempt_number: attempt, seq } = event;
      if (attempt === rasp.attempt) return compare(seq - rasp.seq);
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

function compare(distance: number): 'next' | 'known' | 'later' {
  if (distance === 1) return 'next';
  return distance < 1 ? 'known' : 'later';
}
