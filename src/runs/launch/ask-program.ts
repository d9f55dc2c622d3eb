import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError } from '../../base/index.js';
import { launchProcess } from '../process/launch-process.js';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** What a program printed when asked, or why it gave no answer. */
export interface ProgramAnswer {
  readonly text: string;
  readonly problem?: string;
}

export interface AskOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** A version is short; more is dropped. */
const MAX_BYTES = 64 * 1024;

/** Launches a program, reads a limited output for a limited time, and ends it with all it launched. */
export async function askProgram(
  command: readonly [string, ...string[]],
  { env, cwd, timeoutMs }: AskOptions,
): Promise<ProgramAnswer> {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  let running: Awaited<ReturnType<typeof launchProcess>>;
  try {
    running = await launchProcess({ command, cwd, env: Object.fromEntries(variables) }, { graceMs: 500 });
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { text: '', problem: error.message };
  }
  const waiting = new AbortController();
  const tooLate = sleep(timeoutMs, 'too late' as const, { signal: waiting.signal }).catch(() => 'too late' as const);
  const output = readStart(running.output);
  try {
    const first = await Promise.race([Promise.all([output, running.ended]), tooLate]);
    if (first === 'too late') return { text: '', problem: `it did not answer within ${timeoutMs / 1000} s` };
    const [text, { exitCode, signal }] = first;
    return exitCode === 0 ? { text } : { text, problem: `it ended with ${signal ?? `exit code ${exitCode}`}` };
  } finally {
    waiting.abort();
    await running.stop();
    await output;
  }
}

/** Reads all of it, so that the program can end, and keeps the beginning. */
async function readStart(output: AsyncIterable<{ readonly bytes: Uint8Array }>): Promise<string> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const { bytes } of output) {
    if (length < MAX_BYTES) kept.push(bytes.subarray(0, MAX_BYTES - length));
    length += bytes.length;
  }
  return new TextDecoder().decode(Buffer.concat(kept));
}

/**
 * Finds a program as the system would: a name on PATH, a path relative to the working folder. Undefined if there is none
 * that may be executed.
 *
 * @example
 * await findProgram('codex', { path: process.env.PATH ?? '', cwd: process.cwd() }) // '/usr/local/bin/codex'
 */
export async function findProgram(
  program: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<string | undefined> {
  const isPath = program.includes('/') || (process.platform === 'win32' && program.includes('\\'));
  const folders = isPath || isAbsolute(program) ? [cwd] : path.split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = isAbsolute(program) ? `${program}${ending}` : join(resolve(cwd, folder), `${program}${ending}`);
      if (await isExecutable(file)) return file;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
