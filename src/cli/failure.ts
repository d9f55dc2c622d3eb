import { SluiceError, getErrorMessage, isSluiceError } from '../base/index.js';
import { findCodePage } from '../base/files/index.js';
import { formatLine, makeVisible } from './terminal-text.js';

export const EXIT = { success: 0, failed: 1, misuse: 2, broken: 70, canceled: 130 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A usage error: an unknown option, an unreadable file, an invalid schema. */
export class MisuseError extends SluiceError<'MISUSE'> {
  override readonly name = 'MisuseError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('MISUSE', message, options);
  }
}

/**
 * Describes why a command failed. Usage errors and system errors are one line; only an internal error includes a
 * stack trace. Once `homepage` is the site's address, a message has a link to its code.
 */
export function describeFailure(
  thrown: unknown,
  homepage?: string,
): { readonly text: string; readonly exitCode: ExitCode } {
  if (thrown instanceof MisuseError) return { text: formatLine(thrown.message), exitCode: EXIT.misuse };
  const error = toSluiceError(thrown);
  const page = findCodePage(error.code, homepage);
  const line = formatLine(`${error.code}: ${error.message}${page === undefined ? '' : ` See ${page}`}`);
  if (error.code !== 'INTERNAL_ERROR') return { text: line, exitCode: EXIT.misuse };
  const stack = thrown instanceof Error && thrown.stack !== undefined ? `${makeVisible(thrown.stack)}\n` : '';
  return { text: line + stack, exitCode: EXIT.broken };
}

function toSluiceError(thrown: unknown): SluiceError {
  if (isSluiceError(thrown)) return thrown;
  const reason = getErrorMessage(thrown);
  const options = { cause: thrown };
  return thrown instanceof Error && 'syscall' in thrown
    ? new SluiceError('SYSTEM_REFUSED', `${reason}. Check the path, its permissions and the free disk space.`, options)
    : new SluiceError(
        'INTERNAL_ERROR',
        `${reason}. This is an internal error. Report it with the command that you ran.`,
        options,
      );
}
