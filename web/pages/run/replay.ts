import { firstAbove } from './sorted-search.js';

/** Between two events that are further apart than this, a replay does not wait longer. */
const LONGEST_WAIT_MS = 1500;

/** How fast a run can be replayed. */
export const SPEEDS = [1, 2, 5, 20, 100] as const;

/** Of the times of two lenses those that go on for longer: the other one may have been cut off, or its connection lost. */
export function longerOf(one: readonly number[], other: readonly number[]): readonly number[] {
  return (one.at(-1) ?? 0) >= (other.at(-1) ?? 0) ? one : other;
}

/** How far apart the stops of a slider over so many milliseconds are. */
export function sliderStep(lengthMs: number): number {
  return Math.max(1, Math.round(lengthMs / 1000));
}

/** The moment a stop of the slider stands for; null for the last one, which is the end though it may lie short of it. */
export function sliderMoment(ms: number, start: number, end: number): number | null {
  const length = end - start;
  return ms + sliderStep(length) > length ? null : start + ms;
}

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
