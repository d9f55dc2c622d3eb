import type { Problem } from '../api/shapes/problem.js';
import { isSluiceError, SluiceError } from '../json/index.js';

/** A request that is not carried out, and why. */
export class RequestError extends SluiceError {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly extra: Pick<Problem, 'issues' | 'active_run_id' | 'details'>;

  constructor(
    status: number,
    code: string,
    message: string,
    extra: Pick<Problem, 'issues' | 'active_run_id' | 'details'> = {},
  ) {
    super(code, message);
    this.status = status;
    this.extra = extra;
  }
}

/** What the codes of the floors below mean to a caller; a code that is not here is our own fault. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID_SCHEMA: 400,
  INVALID_RUN_SPEC: 400,
  INVALID_WORK_REQUEST: 400,
  INVALID_CURSOR: 400,
  UNKNOWN_WORKER: 400,
  ALIGN_UNSUPPORTED: 400,
  RUN_NOT_FOUND: 404,
  ISSUE_NOT_FOUND: 404,
  ITEM_NOT_FOUND: 404,
  RAW_NOT_FOUND: 404,
  RESOLVE_CONFLICT: 409,
  RUN_NOT_WAITING: 409,
  NOTHING_TO_ACCEPT: 422,
  STORE_UNAVAILABLE: 503,
};

/** RFC 9457 details for anything thrown. What is not ours is not told: it may hold what the caller must not see. */
export function problemOf(error: unknown, requestId: string): Problem {
  const known = isSluiceError(error) ? STATUS[error.code] : undefined;
  const status = error instanceof RequestError ? error.status : known;
  if (status === undefined || !isSluiceError(error)) {
    return {
      ...base('INTERNAL_ERROR', 500, requestId),
      detail: 'Something went wrong here, not in your request. The log has it under this request id.',
    };
  }
  const extra = error instanceof RequestError ? error.extra : {};
  return { ...base(error.code, status, requestId), detail: error.message, ...extra };
}

function base(code: string, status: number, requestId: string): Omit<Problem, 'detail'> {
  return {
    type: `urn:sluice:problem:${code}`,
    title: TITLES[status] ?? 'Problem',
    status,
    code,
    request_id: requestId,
  };
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request does not fit',
  401: 'Who are you?',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Something changed in between',
  413: 'Too large',
  415: 'Not JSON',
  422: 'Cannot be done',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not now',
};
