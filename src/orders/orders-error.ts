import { SluiceError } from '../base/index.js';
import type { Problem } from '../records/index.js';

/** Error codes of invalid requests. A closed list: `docs/errors.md` explains what to do about each. */
export const ORDERS_ERROR_CODES = [
  'INVALID_WORK_REQUEST',
  'INVALID_WORK_ORDER',
  'INVALID_WORK_RESULT',
  'INVALID_WRAPPERS',
  'UNKNOWN_WORKER',
  'INVALID_CHECKS',
  'UNKNOWN_CHECK',
  'INVALID_REPOS',
  'UNKNOWN_REPO',
  'UNKNOWN_GIT_FILTER',
] as const;

/** One of {@link ORDERS_ERROR_CODES}. */
export type OrdersErrorCode = (typeof ORDERS_ERROR_CODES)[number];

/**
 * An invalid request, result or configuration. `problems` lists every reason with its location.
 *
 * @example
 * if (error instanceof OrdersError) for (const { path, message } of error.problems) console.error(path, message)
 */
export class OrdersError extends SluiceError<OrdersErrorCode> {
  override readonly name = 'OrdersError';
  readonly problems: readonly Problem[];

  constructor(code: OrdersErrorCode, message: string, options: OrdersErrorOptions = {}) {
    super(code, message, options);
    this.problems = options.problems ?? [];
  }
}

interface OrdersErrorOptions {
  readonly problems?: readonly Problem[];
  readonly cause?: unknown;
}

// A longer list would hide what matters; `problems` contains all of them.
const SHOWN_PROBLEMS = 10;

/** Creates an error whose message lists the problems with their locations. */
export function createInvalidError(code: OrdersErrorCode, subject: string, problems: readonly Problem[]): OrdersError {
  const listed = problems.slice(0, SHOWN_PROBLEMS).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const remainder = problems.length > SHOWN_PROBLEMS ? `; and ${problems.length - SHOWN_PROBLEMS} more` : '';
  return new OrdersError(code, `Invalid ${subject}: ${listed.join('; ')}${remainder}.`, { problems });
}
