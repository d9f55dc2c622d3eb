import type { OpenRun } from './open-run.js';

/** When a run began, as its events tell it; times are shown from there. */
export function startOf({ lenses: { conversation, list } }: OpenRun): number {
  return Math.min(list.times[0] ?? Number.POSITIVE_INFINITY, conversation.times[0] ?? Number.POSITIVE_INFINITY);
}

/** When the last event came; the same as the beginning before there are any. */
export function endOf(run: OpenRun): number {
  const { conversation, list } = run.lenses;
  return Math.max(list.times.at(-1) ?? Number.NEGATIVE_INFINITY, conversation.times.at(-1) ?? startOf(run));
}
