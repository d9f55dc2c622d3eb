import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { findProgram } from '../../files/index.js';
import { askProgram } from './ask-program.js';
import type { Launcher } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';

/** A program that does not print its version by then is used without. */
const TIMEOUT_MS = 15_000;

/** Programs whose version is remembered; the oldest is forgotten first. */
const MAX_PROGRAMS = 64;

const asked = new Map<string, Promise<string | undefined>>();

/** The version of an engine's program, detected once per process while the program file does not change. */
export async function engineVersion(
  launcher: Launcher,
  words: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (launcher.versionCommand.length === 0) return undefined;
  const key = await identify(words, env);
  const known = asked.get(key);
  if (known !== undefined) return known;
  const version = ask(launcher, words, env);
  asked.set(key, version);
  if (asked.size > MAX_PROGRAMS) asked.delete(asked.keys().next().value ?? key);
  return version;
}

async function ask(
  launcher: Launcher,
  words: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const [program, ...given] = words;
  const command: [string, ...string[]] = [program, ...given, ...launcher.versionCommand];
  // Not marked as the run's: it would be ended with the run, which may be over before the program has answered.
  const unmarked = { ...env, [RUN_MARKER]: undefined };
  const { text, problem } = await askProgram(command, { env: unmarked, cwd: tmpdir(), timeoutMs: TIMEOUT_MS });
  return problem === undefined ? launcher.readVersion(text) : undefined;
}

/** The program's file with its time and size: an update in place is another program. */
async function identify(words: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Promise<string> {
  const path = await findProgram(words[0], { path: env['PATH'] ?? '', cwd: tmpdir() });
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  return JSON.stringify([words, path ?? null, found?.mtimeMs ?? null, found?.size ?? null]);
}
