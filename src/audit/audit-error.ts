import { SluiceError } from '../json/sluice-error.js';

/** What can be wrong with a run folder. A closed list: `docs/errors.md` says what to do about each. */
export const AUDIT_ERROR_CODES = [
  'RUN_FOLDER_NOT_FOUND',
  'RUN_FOLDER_EMPTY',
  'ATTEMPT_NOT_FOUND',
  'ENGINE_NOT_NAMED',
  'UNSAFE_FILE',
  'FILE_TOO_LARGE',
  'FILE_UNREADABLE',
] as const;

/** One of {@link AUDIT_ERROR_CODES}. */
export type AuditErrorCode = (typeof AUDIT_ERROR_CODES)[number];

/**
 * A run folder that cannot be read or written as it is.
 *
 * @example
 * if (error instanceof AuditError && error.code === 'RUN_FOLDER_NOT_FOUND') console.error(error.message)
 */
export class AuditError extends SluiceError<AuditErrorCode> {
  override readonly name = 'AuditError';
}
