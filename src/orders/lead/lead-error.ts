import { SluiceError } from '../../base/index.js';

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
