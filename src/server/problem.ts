import type { Problem } from '../api/index.js';
import { isSluiceError } from '../base/index.js';
import type { SluiceError } from '../base/index.js';
import { OrdersError } from '../orders/index.js';
import { RunSpecError } from '../runs/index.js';
import { LateDecision } from './late-decision.js';
import { REQUEST_PROBLEMS, RequestError } from './request-error.js';
import type { ProblemExtra } from './request-error.js';

/** What codes mean to a caller, those of the floors below too; a code that is not here is our own fault. */
export const STATUS_OF_CODE: Readonly<Record<string, number>> = {
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
  ORDER_UNKNOWN: 404,
  ORDER_NOT_FOUND: 404,
  ITEM_UNKNOWN: 404,
  CONFLICT: 409,
  REQUEST_ID_REUSED: 409,
  NOTHING_TO_ACCEPT: 422,
  STORE_UNAVAILABLE: 503,
  STORE_BUSY: 503,
  STORE_CLOSED: 503,
  LEAD_CLOSED: 503,
};

/** RFC 9457 details for anything thrown. What is not ours is not told: it may hold what the caller must not see. */
export function problemOf(error: unknown, requestId: string): Problem {
  const status =
    isSluiceError(error) && Object.hasOwn(STATUS_OF_CODE, error.code) ? STATUS_OF_CODE[error.code] : undefined;
  if (status === undefined || !isSluiceError(error)) {
    return {
      ...base('INTERNAL_ERROR', 500, requestId),
      detail: 'Something went wrong here, not in your request. The log has it under this request id.',
    };
  }
  return { ...base(error.code, status, requestId), detail: error.message, ...extraOf(error) };
}

/** More issues than this say nothing new. */
const MOST_ISSUES = 100;

/** What some errors know beyond their sentence. */
function extraOf(error: SluiceError): ProblemExtra {
  if (error instanceof RequestError) return error.extra;
  if (error instanceof LateDecision) return { active_run_id: error.activeRunId };
  if (error instanceof RunSpecError) {
    const issues = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
    return { issues: issues.slice(0, MOST_ISSUES) };
  }
  if (error instanceof OrdersError) {
    const issues = error.problems.map(({ path = '', message }) => ({ path, message }));
    return { issues: issues.slice(0, MOST_ISSUES) };
  }
  return {};
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
  416: 'No such range',
  421: 'Not the server you look for',
  422: 'Cannot be done',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not now',
};
