import type { Problem } from '../api/index.js';
import { SluiceError } from '../../base/index.js';

/** The codes of the server itself, with their status. A closed list: `docs/errors.md` describes each of them. */
export const REQUEST_PROBLEMS = {
  NO_SUCH_PATH: 404,
  METHOD_NOT_ALLOWED: 405,
  HOST_REFUSED: 421,
  ORIGIN_REFUSED: 403,
  TOKEN_REFUSED: 401,
  SIGNATURE_REFUSED: 401,
  SCOPE_MISSING: 403,
  NOT_JSON: 415,
  BODY_TOO_LARGE: 413,
  ANSWER_TOO_LARGE: 422,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_RANGE: 416,
  TOO_MANY_REQUESTS: 429,
  PROTOCOL_UNSUPPORTED: 400,
  SERVER_BUSY: 503,
  REQUEST_TIMED_OUT: 503,
  SHUTTING_DOWN: 503,
  NOT_READY: 503,
  FOLDER_NOT_ALLOWED: 403,
  COMMAND_NOT_ALLOWED: 403,
  PERMISSIONS_NOT_ALLOWED: 403,
  ENVIRONMENT_NOT_ALLOWED: 403,
  RUN_NOT_FOUND: 404,
  COMMENT_NOT_FOUND: 404,
  RUN_NOT_WAITING: 409,
  RUN_ON_ANOTHER_HOST: 409,
  FILE_NOT_FOUND: 404,
  ISSUE_NOT_FOUND: 404,
} as const;

/** `CONFLICT` is the lead's code; the server adds the active run. */
type RequestProblemCode = keyof typeof REQUEST_PROBLEMS | 'CONFLICT';

export type ProblemExtra = Pick<Problem, 'issues' | 'active_run_id'>;

/** A request that was refused, and why. */
export class RequestError extends SluiceError<RequestProblemCode> {
  override readonly name = 'RequestError';
  readonly extra: ProblemExtra;

  /** The cause is logged, never sent. */
  constructor(
    code: RequestProblemCode,
    message: string,
    { cause, ...extra }: ProblemExtra & { readonly cause?: unknown } = {},
  ) {
    super(code, message, cause === undefined ? undefined : { cause });
    this.extra = extra;
  }
}
