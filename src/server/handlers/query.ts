import { FORMATS } from '../../json/schema/index.js';
import type { Page } from '../../store/ports/index.js';
import { RequestError } from '../http/problem.js';

const DEFAULT_SIZE = 50;

export function readPage({ limit, cursor }: Readonly<Record<string, string>>): Page {
  return { limit: limit === undefined ? DEFAULT_SIZE : Number(limit), ...(cursor === undefined ? {} : { cursor }) };
}

/** Converts a time in the query to milliseconds since 1970. The endpoint's schema has checked only its syntax. */
export function readTime(query: Readonly<Record<string, string>>, name: string): number | undefined {
  const time = query[name];
  if (time === undefined) return undefined;
  // `Date.parse` alone would turn February 31 into March 3.
  const isValid = ['date', 'date-time'].some((format) => FORMATS.get(format)?.(time) === true);
  if (isValid) return Date.parse(time);
  throw new RequestError(
    'INVALID_QUERY',
    `"${name}" is a date or time that does not exist. Use a time such as "2026-11-15T08:00:00Z".`,
  );
}
