import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError } from '../../base/index.js';
import { launchProcess } from '../process/launch-process.js';

/** The output of a program, or why there is none. */
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
