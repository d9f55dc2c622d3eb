import type { Problem } from '../api/index.js';
import { SluiceError } from '../base/index.js';

/** The codes of the client itself. A closed list: `docs/errors.md` says what to do. */
export const CLIENT_ERROR_CODES = ['SERVER_UNREACHABLE', 'ANSWER_UNREADABLE', 'STREAM_LOST', 'EVENTS_MISSING'] as const;

/** One of {@link CLIENT_ERROR_CODES}. */
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

/**
 * A failed request: refused by the server, with its code and problem details, or without a response, with one of
 * {@link CLIENT_ERROR_CODES}.
 *
 * @example
 * try { await client.resolveItem({ id, body }) } catch (error) {
 *   if (isSluiceError(error) && error.code === 'CONFLICT') showWhatCountsNow()
 * }
 */
export class ClientError extends SluiceError {
  override readonly name = 'ClientError';
  /** The status of the response; null without a response. */
  readonly status: number | null;
  readonly problem: Problem | null;

  constructor(code: string, message: string, { status = null, problem = null, ...options }: ClientErrorDetails = {}) {
    super(code, message, options);
    this.status = status;
    this.problem = problem;
  }
}

/** The details of a failure. */
export interface ClientErrorDetails {
  readonly status?: number | null;
  readonly problem?: Problem | null;
  readonly cause?: unknown;
}
