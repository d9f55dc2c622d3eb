import { SluiceError } from '../base/index.js';

/** What can be wrong with a run folder. A closed list: `docs/errors.md` says what to do about each. */
export const RUN_FOLDER_ERROR_CODES = [
  'RUN_FOLDER_NOT_FOUND',
  'RUN_FOLDER_EMPTY',
  'ATTEMPT_NOT_FOUND',
  'ENGINE_NOT_NAMED',
] as const;

/** One of {@link RUN_FOLDER_ERROR_CODES}. */
export type RunFolderErrorCode = (typeof RUN_FOLDER_ERROR_CODES)[number];

/**
 * A run folder that cannot be read or written as it is.
 *
 * @example
 * if (error instanceof RunFolderError && error.code === 'RUN_FOLDER_NOT_FOUND') console.error(error.message)
 */
export class RunFolderError extends SluiceError<RunFolderErrorCode> {
  override readonly name = 'RunFolderError';
}
