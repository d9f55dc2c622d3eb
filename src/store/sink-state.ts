import type { SinkState } from '../records/index.js';

/** How many messages of a sink one call of `redeliver` makes due. */
export const REDELIVERED_AT_ONCE = 1000;

/** Counts of a sink in a store. */
type SinkCounts = Omit<SinkState, 'state'>;

/** Adds the state, by one rule for every store. */
export function describeSink(counts: SinkCounts): SinkState {
  const state = counts.dead > 0 ? 'broken' : counts.last_error === null ? 'waiting' : 'failing';
  return { ...counts, state };
}

/** The order of names in lists: by code unit, as databases compare bytes. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
