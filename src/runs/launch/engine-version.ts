import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { findExecutable } from '../../files/index.js';
import { runProgram } from './run-program.js';
import type { Launcher } from '../launchers/launcher.js';
import { RUN_MARKER } from '../process/process-record.js';

/** If a CLI takes longer than this to print its version, its version is treated as unknown. */
const TIMEOUT_MS = 15_000;

/** How long to wait before looking up an unknown version again: the host might just have been under load. */
const RETRY_MS = 60_000;

/** Maximum cached versions; the oldest is dropped first. */
const MAX_CACHED_VERSIONS = 64;

const versions = new Map<string, Promise<string | undefined>>();

/** Returns the version of an engine's CLI, cached until its executable changes. */
export async function findEngineVersion(
  launcher: Launcher,
  words: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (launcher.versionCommand.length === 0) return undefined;
  const key = await identify(words, env);
  const known = versions.get(key);
  if (known !== undefined) return known;
  const version = readVersion(launcher, words, env);
  versions.set(key, version);
  if (versions.size > MAX_CACHED_VERSIONS) versions.delete(versions.keys().next().value ?? key);
  if ((await version) === undefined) setTimeout(() => versions.delete(key), RETRY_MS).unref();
  return version;
}

async function readVersion(
  launcher: Launcher,
  words: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const [program, ...given] = words;
  const command: [string, ...string[]] = [program, ...given, ...launcher.versionCommand];
  // Without the run's marker, so the end of the run does not kill this process before it has printed its version.
  const envWithoutMarker = { ...env, [RUN_MARKER]: undefined };
  const { text, problem } = await runProgram(command, { env: envWithoutMarker, cwd: tmpdir(), timeoutMs: TIMEOUT_MS });
  return problem === undefined ? launcher.readVersion(text) : undefined;
}

/** Returns a key made from the executable's path, time and size, so an update changes the key. */
async function identify(words: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Promise<string> {
  const path = await findExecutable(words[0], { path: env['PATH'] ?? '', cwd: tmpdir() });
  const stats = path === undefined ? undefined : await stat(path).catch(() => undefined);
  return JSON.stringify([words, path ?? null, stats?.mtimeMs ?? null, stats?.size ?? null]);
}
