import type { Problem } from '../api/index.js';
import { isSluiceError, type SluiceError } from '../../base/index.js';
import { OrdersError } from '../../orders/index.js';
import { RunSpecError } from '../../runs/index.js';
import { REQUEST_PROBLEMS, RequestError, type ProblemExtra } from './request-error.js';

export { REQUEST_PROBLEMS, RequestError };

/** The HTTP status of each code, including codes of lower rooms. An unlisted code is an internal error. */
export const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  ...REQUEST_PROBLEMS,
  INVALID_SCHEMA: 400,
  ALIGN_UNSUPPORTED: 400,
  INVALID_RUN_SPEC: 400,
  INVALID_RUN_ID: 400,
  INVALID_WORK_REQUEST: 400,
  INVALID_WORK_RESULT: 400,
  INVALID_RESOLUTION: 400,
  INVALID_CURSOR: 400,
  INVALID_POSITION: 400,
  SPEC_NOT_STORABLE: 400,
  UNKNOWN_WORKER: 400,
  UNKNOWN_CHECK: 400,
  UNKNOWN_REPO: 400,
  INVALID_REPLY: 400,
  CASE_INVALID: 400,
  ORDER_NOT_FOUND: 404,
  ITEM_NOT_FOUND: 404,
  CONFLICT: 409,
  REQUEST_ID_REUSED: 409,
  RUN_NOT_ENDED: 409,
  CASE_TOO_LARGE: 413,
  NOTHING_TO_ACCEPT: 422,
  ARCHIVE_UNAVAILABLE: 503,
  ARCHIVE_REFUSED: 503,
  ARCHIVE_BUCKET_MISSING: 503,
  ARCHIVE_PACKAGE_MISSING: 503,
  STORE_UNAVAILABLE: 503,
  STORE_BUSY: 503,
  STORE_CLOSED: 503,
  LEAD_CLOSED: 503,
};

/** Describes an error as a problem (RFC 9457). Messages of unknown errors are omitted: they can contain secrets. */
export function describeProblem(error: unknown, requestId: string): Problem {
  const known = isSluiceError(error) && Object.hasOwn(STATUS_BY_CODE, error.code) ? error : undefined;
  const code = known?.code ?? 'INTERNAL_ERROR';
  const status = STATUS_BY_CODE[code] ?? 500;
  return {
    type: `urn:sluice:problem:${code}`,
    title: TITLES[status] ?? 'Problem',
    status,
    code,
    request_id: requestId,
    detail: known?.message ?? 'Internal error. See the server log, which has the details under this request id.',
    ...readExtra(known),
  };
}

const MAX_ISSUES = 100;

function readExtra(error: SluiceError | undefined): ProblemExtra {
  if (error instanceof RequestError) return error.extra;
  if (error instanceof RunSpecError)
    return {
      issues: error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path: path.join('.'), message })),
    };
  if (error instanceof OrdersError)
    return { issues: error.problems.slice(0, MAX_ISSUES).map(({ path = '', message }) => ({ path, message })) };
  return {};
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Content too large',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  421: 'Misdirected request',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Service unavailable',
};
