import { SluiceError } from '../base/index.js';

/** What can go wrong with a store. A closed list: `docs/errors.md` says what to do about each. */
export const STORE_ERROR_CODES = [
  'INVALID_STORE_URL',
  'STORE_UNAVAILABLE',
  'STORE_TOO_NEW',
  'STORE_BUSY',
  'STORE_FAILED',
  'STORE_DAMAGED',
  'STORE_CLOSED',
  'PACKAGE_MISSING',
  'REQUEST_ID_REUSED',
  'ORDER_NOT_FOUND',
  'INVALID_CURSOR',
  'SPEC_NOT_STORABLE',
  'BACKUP_UNSUPPORTED',
  'BACKUP_EXISTS',
  'BACKUP_FAILED',
] as const;

/** One of {@link STORE_ERROR_CODES}. */
export type StoreErrorCode = (typeof STORE_ERROR_CODES)[number];

/**
 * A command that the store refuses, or surroundings in which it cannot work. Nothing was written.
 *
 * @example
 * if (error instanceof StoreError) console.error(error.code, error.message)
 */
export class StoreError extends SluiceError<StoreErrorCode> {
  override readonly name = 'StoreError';
}
