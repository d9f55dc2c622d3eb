import { firstAbove } from './sorted-search.js';

/** Between two events that are further apart than this, a replay does not wait longer. */
const LONGEST_WAIT_MS = 1500;

/** How fast a run can be replayed. */
export const SPEEDS = [1, 2, 5, 20, 100] as const;

/**
 * Where a replay stands after so many milliseconds more at a speed. Silence is cut short: nobody waits ten minutes for a
 * compiler a second time.
 */
export function advance(times: readonly number[], moment: number, elapsedMs: number, speed: number): number {
  const wanted = moment + elapsedMs * speed;
  const end = times.at(-1) ?? moment;
  const next = times[firstAbove(times, moment)];
  if (next === undefined || wanted >= end) return Math.max(moment, end);
  return Math.max(wanted, next - LONGEST_WAIT_MS * speed);
}
