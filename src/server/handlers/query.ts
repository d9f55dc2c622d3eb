import type { Page } from '../../orders/index.js';
import { RequestError } from '../http/problem.js';

const DEFAULT_SIZE = 50;

/** The page a request asks for, which was validated before. */
export function readPage({ limit, cursor }: Readonly<Record<string, string>>): Page {
  return { limit: limit === undefined ? DEFAULT_SIZE : Number(limit), ...(cursor === undefined ? {} : { cursor }) };
}

/** A time of the query, in milliseconds since 1970; only its syntax was validated before. */
export function readTime(moment: string | undefined): number | undefined {
  if (moment === undefined) return undefined;
  const time = Date.parse(moment);
  if (!Number.isNaN(time)) return time;
  throw new RequestError('INVALID_QUERY', 'The date or time does not exist. Use one such as "2026-11-15T08:00:00Z".');
}
