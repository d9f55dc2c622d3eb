import { stat } from 'node:fs/promises';
import { SluiceError, errorCodeOf } from '../../base/index.js';
import type { ProcessCommand } from './process-command.js';

/** Says why a program could not be started, and what to do. */
export async function explainNotStarted({ command, cwd }: ProcessCommand, cause: unknown): Promise<SluiceError> {
  const [program] = command;
  return new SluiceError('PROCESS_NOT_STARTED', `${program} was not started: ${await findReason()}.`, { cause });

  async function findReason(): Promise<string> {
    const folder = await stat(cwd).catch(() => undefined);
    if (folder === undefined) return `the working folder ${cwd} does not exist; make it or name another`;
    if (!folder.isDirectory()) return `the working folder ${cwd} is not a folder; name another`;
    const code = errorCodeOf(cause);
    switch (code) {
      case 'ENOENT':
        return `there is no such program; install it, put its folder on PATH, or name it with its full path`;
      case 'EACCES':
      case 'EPERM':
        return `it may not be executed; look at its permissions (chmod +x) and those of the working folder`;
      case 'E2BIG':
        return `its arguments and environment are too long for the system; give the prompt on stdin`;
      case 'EAGAIN':
      case 'EMFILE':
      case 'ENFILE':
      case 'ENOMEM':
        return `the system has no room for another process (${code}); start fewer runs at a time`;
      case undefined:
      default:
        return cause instanceof Error ? cause.message : 'the system gives no reason';
    }
  }
}
