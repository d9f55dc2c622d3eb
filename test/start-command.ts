import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { BUNDLED_MAIN } from './command-stage.js';

/** The running built command. */
export interface StartedCommand {
  readonly child: ChildProcessWithoutNullStreams;
  /** Its output so far. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has exited and all its output was received. */
  readonly exitCode: Promise<number | null>;
}

/**
 * Starts the built command in a folder for the running test, and stops it afterwards. `main` is another build of it.
 */
export function startCommand(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
  main = BUNDLED_MAIN,
): StartedCommand {
  const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return { child, printed, exitCode: closed.then(([code]) => code) };
}
