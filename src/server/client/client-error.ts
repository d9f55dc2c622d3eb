import type { Problem } from '../api/index.js';
import { SluiceError } from '../../base/index.js';

/** Error codes of the client itself. A closed list: `docs/errors.md` describes how to handle each. */
export const CLIENT_ERROR_CODES = ['SERVER_UNREACHABLE', 'ANSWER_UNREADABLE', 'STREAM_LOST', 'EVENTS_MISSING'] as const;

/** One of {@link CLIENT_ERROR_CODES}. */
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

/**
 * A failed request. If the server refused it, the error has the server's code and problem details. If there was no
 * response, or the response could not be used, the code is one of {@link CLIENT_ERROR_CODES}.
 *
 * @example
 * try { await client.resolveItem({ id, body }) } catch (error) {
 *   if (isSluiceError(error) && error.code === 'CONFLICT') reloadItem()
 * }
 */
export class ClientError extends SluiceError {
  override readonly name = 'ClientError';
  /** The HTTP status of the response; null without a response, or if an event stream failed. */
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
