import { SluiceError } from '../../base/index.js';

/** Error codes of run folders. A closed list: `docs/errors.md` explains what to do about each. */
export const RUN_FOLDER_ERROR_CODES = [
  'RUN_FOLDER_NOT_FOUND',
  'RUN_FOLDER_EMPTY',
  'ATTEMPT_NOT_FOUND',
  'ENGINE_NOT_NAMED',
  'RUN_PACKED',
  'RUN_FOLDER_CHANGED',
  'PACKED_RUN_DAMAGED',
  'PACKED_RUN_UNSUPPORTED',
] as const;

/** One of `RUN_FOLDER_ERROR_CODES`. */
export type RunFolderErrorCode = (typeof RUN_FOLDER_ERROR_CODES)[number];

/**
 * Thrown when a run folder cannot be read or written.
 *
 * @example
 * if (error instanceof RunFolderError && error.code === 'RUN_FOLDER_NOT_FOUND') console.error(error.message)
 */
export class RunFolderError extends SluiceError<RunFolderErrorCode> {
  override readonly name = 'RunFolderError';
}

export function createNotFoundError(path: string, cause?: unknown): RunFolderError {
  const message = `Cannot find "${path}". Pass the folder of a run, or a packed run.`;
  return new RunFolderError('RUN_FOLDER_NOT_FOUND', message, { cause });
}

/** Codes of warnings about a run folder. A closed list. */
export const RUN_FOLDER_WARNING_CODES = [
  'INTERLEAVING_UNKNOWN',
  'TIMING_INCONSISTENT',
  'START_TIME_UNKNOWN',
  'META_IGNORED',
  'FS_DIFF_IGNORED',
  'LOG_LINE_DAMAGED',
] as const;

/** A problem with a run folder that did not prevent it from being read. */
export interface RunFolderWarning {
  readonly code: (typeof RUN_FOLDER_WARNING_CODES)[number];
  readonly message: string;
  readonly attempt?: number;
}
