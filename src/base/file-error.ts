import { SluiceError } from './sluice-error.js';

/**
 * Error codes of files that an agent could have written. A closed list: `docs/errors.md` explains what to do about
 * each.
 */
export const FILE_ERROR_CODES = ['UNSAFE_FILE', 'FILE_TOO_LARGE', 'FILE_UNREADABLE'] as const;

/** One of `FILE_ERROR_CODES`. */
export type FileErrorCode = (typeof FILE_ERROR_CODES)[number];

/**
 * A file that cannot be opened safely: a link, a device, too large, or not readable.
 *
 * @example
 * if (error instanceof FileError && error.code === 'UNSAFE_FILE') console.error(error.message)
 */
export class FileError extends SluiceError<FileErrorCode> {
  override readonly name = 'FileError';
}
