import { setTimeout as sleep } from 'node:timers/promises';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { findExecutable } from '../../base/files/index.js';
import type { Launcher } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';
import { isSluiceError, setLatest } from '../../base/index.js';
import { launchProcess, type RunningProcess } from '../process/launch-process.js';

/** If a CLI takes longer than this to print its version, its version is treated as unknown. */
const TIMEOUT_MS = 15_000;

/** How long to wait before looking up an unknown version again: the host might just have been under load. */
const RETRY_MS = 60_000;

/** Maximum cached versions; the oldest is dropped first. */
const MAX_CACHED_VERSIONS = 64;

type Command = readonly [string, ...string[]];

const versions = new Map<string, Promise<string | undefined>>();

/** Returns the version of an engine's CLI, cached until its executable changes. */
export async function findEngineVersion(
  launcher: Launcher,
  command: Command,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (launcher.versionCommand.length === 0) return undefined;
  const key = await identify(command, env);
  const known = versions.get(key);
  if (known !== undefined) return known;
  const version = readVersion(launcher, command, env);
  setLatest(versions, MAX_CACHED_VERSIONS, key, version);
  if ((await version) === undefined) setTimeout(() => versions.delete(key), RETRY_MS).unref();
  return version;
}

async function readVersion(
  launcher: Launcher,
  command: Command,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  // Without the run's marker, so the end of the run does not kill this process before it has printed its version.
  const settings = { env: { ...env, [RUN_MARKER]: undefined }, cwd: tmpdir(), timeoutMs: TIMEOUT_MS };
  const { text, problem } = await runProgram([...command, ...launcher.versionCommand], settings);
  return problem === undefined ? launcher.readVersion(text) : undefined;
}

/** Returns a key made from the executable's path, time and size, so an update changes the key. */
async function identify(command: Command, env: Readonly<Record<string, string>>): Promise<string> {
  const path = await findExecutable(command[0], { path: env['PATH'] ?? '', cwd: tmpdir() });
  const stats = path === undefined ? undefined : await stat(path).catch(() => undefined);
  return JSON.stringify([command, path ?? null, stats?.mtimeMs ?? null, stats?.size ?? null]);
}

/** A command's output, and the problem if it failed. */
interface ProgramOutput {
  readonly text: string;
  readonly problem?: string;
  /** Whether it did not exit in time, which says nothing about the program on a host under load. */
  readonly isTimeout?: true;
}

/** The maximum length of the output; a version is short. */
const MAX_BYTES = 64 * 1024;

/** Runs a command with limits on time and output, and terminates it with all its child processes. */
export async function runProgram(
  command: Command,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
    readonly timeoutMs: number;
  },
): Promise<ProgramOutput> {
  const { cwd, timeoutMs } = options;
  const variables = Object.entries(options.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  let running: RunningProcess;
  try {
    running = await launchProcess({ command, cwd, env: Object.fromEntries(variables) }, { graceMs: 500 });
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { text: '', problem: error.message };
  }
  const output = readStart(running.output);
  try {
    const ended = Promise.all([output, running.exited]);
    const first = await Promise.race([ended, sleep(timeoutMs, null, { ref: false })]);
    if (first === null) return { text: '', problem: `it did not exit within ${timeoutMs / 1000} s`, isTimeout: true };
    const [text, { exitCode, signal }] = first;
    if (exitCode === 0) return { text };
    return { text, problem: signal === null ? `it exited with code ${exitCode}` : `it was killed by ${signal}` };
  } finally {
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
