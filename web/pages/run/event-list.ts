import type { RaspEvent } from '../../../src/events/index.js';
import { createRefIndex } from './ref-index.js';
import type { RefIndex } from './ref-index.js';
import { findFirst } from './sorted-search.js';

/** A run's RASP events so far. */
export interface EventList {
  readonly events: readonly RaspEvent[];
  /** The time of each event, in milliseconds, never decreasing. */
  readonly times: readonly number[];
  readonly refs: RefIndex;
  /** Adds an event and returns its time. */
  readonly append: (event: RaspEvent) => number;
  /** Finds the index of an event; null if it has not arrived. */
  readonly find: (attempt: number, seq: number) => number | null;
}

/** Creates an empty list. */
export function createEventList(): EventList {
  const events: RaspEvent[] = [];
  const times: number[] = [];
  const refs = createRefIndex();
  return {
    events,
    times,
    refs,
    append(event) {
      const time = Math.max(times.at(-1) ?? 0, Date.parse(event.ts));
      refs.add(event.raw_ref, events.length);
      events.push(event);
      times.push(time);
      return time;
    },
    find(attempt, seq) {
      const index = findFirst(events.length, (at) => {
        const event = events[at];
        if (event === undefined || event.attempt_number !== attempt) return (event?.attempt_number ?? 0) > attempt;
        return event.seq >= seq;
      });
      const event = events[index];
      return event?.attempt_number === attempt && event.seq === seq ? index : null;
    },
  };
}
