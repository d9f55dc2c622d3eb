import { SluiceError } from '../../base/index.js';

/** Error codes of suites. A closed list: `docs/errors.md` explains what to do about each. */
export const SUITE_ERROR_CODES = [
  'SUITE_EMPTY',
  'SUITE_UNREADABLE',
  'CASE_NOT_FOUND',
  'CASE_EXISTS',
  'CASE_INVALID',
  'CASE_TOO_LARGE',
  'RUN_NOT_ENDED',
] as const;

/** One of `SUITE_ERROR_CODES`. */
export type SuiteErrorCode = (typeof SUITE_ERROR_CODES)[number];

/** A suite or a case that cannot be used. */
export class SuiteError extends SluiceError<SuiteErrorCode> {
  override readonly name = 'SuiteError';
}
