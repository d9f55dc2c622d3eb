import { errorCodeOf } from '../base/index.js';

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
};

/** Says why a file could not be read, for a person who called a command. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return SENTENCES[errorCodeOf(error) ?? ''] ?? error.message;
}
