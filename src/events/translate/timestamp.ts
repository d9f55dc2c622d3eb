/** The last moment that has a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A time as events carry it. Clocks come from outside: one that is out of its mind gives the nearest time there is.
 *
 * @example
 * toTimestamp(0) // '1970-01-01T00:00:00.000Z'
 */
export function toTimestamp(ms: number): string {
  return new Date(Number.isFinite(ms) ? Math.min(Math.max(0, ms), LAST_MS) : 0).toISOString();
}
