import { SluiceError } from '../base/index.js';
import type { Problem } from '../store/records/index.js';

/** Error codes of invalid requests. A closed list: `docs/errors.md` explains what to do about each. */
export const ORDERS_ERROR_CODES = [
  'INVALID_WORK_REQUEST',
  'INVALID_WORK_RESULT',
  'INVALID_CONFIG',
  'UNKNOWN_WORKER',
  'UNKNOWN_CHECK',
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

/** Error codes of a lead; `docs/errors.md` explains what to do. */
export const LEAD_ERROR_CODES = [
  'ORDER_NOT_FOUND',
  'ITEM_NOT_FOUND',
  'INVALID_RESOLUTION',
  'NOTHING_TO_ACCEPT',
  'CONFLICT',
  'LEAD_CLOSED',
] as const;

/** One of {@link LEAD_ERROR_CODES}. */
export type LeadErrorCode = (typeof LEAD_ERROR_CODES)[number];

/**
 * Thrown when a lead cannot fulfil a request. Nothing was changed.
 *
 * @example
 * if (error instanceof LeadError && error.code === 'CONFLICT') console.error(error.message)
 */
export class LeadError extends SluiceError<LeadErrorCode> {
  override readonly name = 'LeadError';
}
