import type { SinkState } from './records/index.js';

/** The maximum number of messages that one call of `redeliver` makes due. */
export const MAX_REDELIVERED = 1000;

/** A sink's message counts. */
type SinkCounts = Omit<SinkState, 'state'>;

/** Adds the sink's state, by the same rule in every store. */
export function describeSink(counts: SinkCounts): SinkState {
  const state = counts.dead > 0 ? 'broken' : counts.last_error === null ? 'waiting' : 'failing';
  return { ...counts, state };
}
