/** `Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {…}`, then a dump of many lines. */
const RETRY = /^Attempt (\d{1,6}) failed(?: with status (\d{3}))?[.:].*\bRetrying (?:with backoff|after)\b/u;

/** A retry as the log of the Gemini CLI tells it, and that of programs made from it. */
export interface Retry {
  readonly attempt: number;
  readonly httpStatus: number | null;
}

/**
 * Reads the first line of a retry; null if it is none.
 *
 * @example
 * readRetryLine('Attempt 2 failed with status 429. Retrying with backoff...') // { attempt: 2, httpStatus: 429 }
 */
export function readRetryLine(line: string): Retry | null {
  const retry = RETRY.exec(line);
  if (retry === null) return null;
  const [, attempt, status] = retry;
  return { attempt: Number(attempt), httpStatus: status === undefined ? null : Number(status) };
}
