import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError } from '../../base/index.js';
import { launchProcess } from '../process/launch-process.js';

/** A command's output, and the problem if it failed. */
export interface ProgramOutput {
  readonly text: string;
  readonly problem?: string;
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** The maximum length of the output; a version is short. */
const MAX_BYTES = 64 * 1024;

/** Runs a command with limits on time and output, and terminates it with all its child processes. */
export async function runProgram(
  command: readonly [string, ...string[]],
  { env, cwd, timeoutMs }: ProgramOptions,
): Promise<ProgramOutput> {
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
  const timeout = sleep(timeoutMs, 'timeout' as const, { signal: waiting.signal }).catch(() => 'timeout' as const);
  const output = readStart(running.output);
  try {
    const first = await Promise.race([Promise.all([output, running.exited]), timeout]);
    if (first === 'timeout') return { text: '', problem: `it did not exit within ${timeoutMs / 1000} s` };
    const [text, { exitCode, signal }] = first;
    return exitCode === 0
      ? { text }
      : { text, problem: signal === null ? `it exited with code ${exitCode}` : `it was killed by ${signal}` };
  } finally {
    waiting.abort();
    await running.stop();
    await output;
  }
}

/** Returns the start of the output; reads the rest too, so the process can exit. */
async function readStart(output: AsyncIterable<{ readonly bytes: Uint8Array }>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const { bytes } of output) {
    if (length < MAX_BYTES) chunks.push(bytes.subarray(0, MAX_BYTES - length));
    length += bytes.length;
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
