import { RequestError } from './request-error.js';

/** The moment a request names, in milliseconds since 1970; the table of endpoints has checked only how it is written. */
export function timeOf(moment: string | undefined): number | undefined {
  if (moment === undefined) return undefined;
  const time = Date.parse(moment);
  if (!Number.isNaN(time)) return time;
  throw new RequestError(
    'INVALID_QUERY',
    'There is no such day, or no such moment of it. Give one such as 2026-11-15T08:00:00Z.',
  );
}
