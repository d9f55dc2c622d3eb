const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/**
 * Returns the start of the step that a time is in, all in milliseconds since 1970. Steps of whole weeks start on a
 * Monday, all others at a multiple of their length, at midnight UTC for whole days.
 *
 * @example
 * startOfStep(Date.UTC(2026, 10, 18), 604_800_000) // Monday, 2026-11-16
 */
export function startOfStep(time: number, stepMs: number): number {
  const origin = stepMs % WEEK_MS === 0 ? FIRST_MONDAY_MS : 0;
  return Math.floor((time - origin) / stepMs) * stepMs + origin;
}
