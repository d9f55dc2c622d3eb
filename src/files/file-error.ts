import { SluiceError } from '../base/index.js';

/** What can be wrong with a file that an agent could have written. A closed list: `docs/errors.md` says what to do about each. */
export const FILE_ERROR_CODES = ['UNSAFE_FILE', 'FILE_TOO_LARGE', 'FILE_UNREADABLE'] as const;

/** One of {@link FILE_ERROR_CODES}. */
export type FileErrorCode = (typeof FILE_ERROR_CODES)[number];

/** A file that cannot be opened safely: a link, a device, too large, or not readable. */
export class FileError extends SluiceError<FileErrorCode> {
  override readonly name = 'FileError';
}
