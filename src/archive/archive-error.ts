import { SluiceError } from '../base/index.js';

/** Archive error codes. A closed list: `docs/errors.md` explains what to do about each. */
export const ARCHIVE_ERROR_CODES = [
  'ARCHIVE_UNAVAILABLE',
  'ARCHIVE_REFUSED',
  'ARCHIVE_BUCKET_MISSING',
  'ARCHIVE_DAMAGED',
  'ARCHIVE_PACKAGE_MISSING',
] as const;

/** The archive cannot be reached, rejects a request, or contains something other than what was uploaded. */
export class ArchiveError extends SluiceError<(typeof ARCHIVE_ERROR_CODES)[number]> {
  override readonly name = 'ArchiveError';
}
