import type { FcmpEvent } from '../protocol/fcmp-event.js';

/**
 * FCMP told in the words of another protocol, one event at a time. `push` gives what an event becomes, which may be
 * nothing; `end` closes what is still open once no more events will come.
 */
export interface Projection<Told> {
  push(event: FcmpEvent): Told[];
  end(): Told[];
}

/** A projection applied to events that are all there already. */
export function projectAll<Told>(projection: Projection<Told>, events: Iterable<FcmpEvent>): Told[] {
  // Not spread into a call: a hostile attempt may leave more open than a call has room for arguments.
  const told: Told[][] = [];
  for (const event of events) told.push(projection.push(event));
  told.push(projection.end());
  return told.flat();
}
