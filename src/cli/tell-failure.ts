import { SluiceError, errorMessageOf, isSluiceError } from '../base/index.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { MisuseError } from './misuse-error.js';
import { tellLine } from './tell-line.js';
import { visibleText } from './visible-text.js';

/** The last words of a command that broke off, and how it ends. */
export interface Failure {
  readonly text: string;
  readonly exitCode: ExitCode;
}

/**
 * Puts into words why a command broke off. Called wrongly and surroundings that refuse are a line each; only what nobody
 * foresaw shows where it happened, for whoever has to mend it.
 *
 * @example
 * tellFailure(new StoreError('STORE_BUSY', 'try again')) // { text: 'sluice: STORE_BUSY: try again\n', exitCode: 2 }
 */
export function tellFailure(thrown: unknown): Failure {
  if (thrown instanceof MisuseError) return { text: tellLine(thrown.message), exitCode: EXIT.misuse };
  const error = asSluiceError(thrown);
  const line = tellLine(`${error.code}: ${error.message}`);
  if (error.code !== 'INTERNAL_ERROR') return { text: line, exitCode: EXIT.misuse };
  const where = thrown instanceof Error && thrown.stack !== undefined ? `${visibleText(thrown.stack)}\n` : '';
  return { text: line + where, exitCode: EXIT.broken };
}

function asSluiceError(thrown: unknown): SluiceError {
  if (isSluiceError(thrown)) return thrown;
  const said = errorMessageOf(thrown);
  const options = { cause: thrown };
  return isSystemError(thrown)
    ? new SluiceError('SYSTEM_REFUSED', `${said}; check the path, its permissions and the space on the disk`, options)
    : new SluiceError(
        'INTERNAL_ERROR',
        `${said}; this was not foreseen, please report it with what was called`,
        options,
      );
}

function isSystemError(thrown: unknown): boolean {
  return thrown instanceof Error && 'syscall' in thrown;
}
