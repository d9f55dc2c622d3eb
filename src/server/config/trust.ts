import { createHash } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SluiceError } from '../../base/index.js';
import { findUserFolder, makeFolder, parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';
import { get, isRecord } from '../../events/index.js';
import type { ConfigFile } from './config.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration in the current folder, where an agent could have written it. */
export interface UntrustedConfig {
  readonly file: string;
  readonly sha256: string;
  /** `changed`: a different version of this file was trusted. */
  readonly state: 'new' | 'changed';
  /** The settings that need trust; `code` for a module. */
  readonly needs: readonly string[];
}

export type ConfirmTrust = (config: UntrustedConfig) => Promise<boolean>;

/** Settings that only change concurrency, time limits, retries, masking and what editors show. */
const HARMLESS = new Set(['$schema', 'concurrency', 'lease_s', 'max_delivery_tries', 'retries', 'secrets']);
const HARMLESS_SERVER_SETTINGS = new Set(['port', 'grace_s', 'log_level', 'drift_threshold', 'limits']);

/**
 * Lists a file's settings that need trust: they start commands, choose the database, which contains the queue, or
 * determine who may start work, where results and secrets go, or what is deleted. New settings need trust until they
 * are listed as harmless.
 *
 * @example
 * listSettingsNeedingTrust({ lease_s: 5, programs: { codex: './codex' }, server: { allow_bypass: true } }) // ['programs', 'server.allow_bypass']
 */
export function listSettingsNeedingTrust({ server = {}, sinks = [], ...settings }: ConfigFile): string[] {
  return [
    ...Object.keys(settings).filter((key) => !HARMLESS.has(key)),
    ...(sinks.every((sink) => sink.type === 'markdown' && sink.dir === undefined) ? [] : ['sinks']),
    ...Object.keys(server).flatMap((key) => (HARMLESS_SERVER_SETTINGS.has(key) ? [] : [`server.${key}`])),
  ];
}

export function hashConfig(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Throws `CONFIG_NOT_TRUSTED` unless this content is trusted, or the user confirms it, which is recorded. */
export async function requireTrust(
  { file, sha256, needs }: Omit<UntrustedConfig, 'state'>,
  env: Environment,
  confirm: ConfirmTrust | undefined,
): Promise<void> {
  const trusted = await readTrustedHash(file, env);
  if (trusted === sha256) return;
  const state = trusted === undefined ? 'new' : 'changed';
  if ((await confirm?.({ file, sha256, state, needs })) === true) return recordTrust({ file, sha256 }, env);
  const problem = state === 'new' ? 'is not trusted' : 'has changed since it was trusted';
  const risk = needs.includes('code') ? 'it is code that would be executed' : `it sets ${needs.join(', ')}`;
  throw new SluiceError(
    'CONFIG_NOT_TRUSTED',
    `The configuration "${file}" ${problem}, and ${risk}; an agent could have written it. Read it, then run: sluice trust`,
  );
}

export async function recordTrust(
  { file, sha256 }: Pick<UntrustedConfig, 'file' | 'sha256'>,
  env: Environment,
): Promise<void> {
  const path = await locateRecord(file, env);
  await makeFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify({ file, sha256 })}\n`);
}

export async function revokeTrust(file: string, env: Environment): Promise<void> {
  await rm(await locateRecord(file, env), { force: true });
}

const MAX_RECORD_BYTES = 64 * 1024;

/** Returns the SHA-256 of this file's trusted content, or undefined if none is trusted. */
async function readTrustedHash(file: string, env: Environment): Promise<string | undefined> {
  const record = parseJson((await readSmallFile(await locateRecord(file, env), MAX_RECORD_BYTES)) ?? '');
  return isRecord(record) ? (get.name(record, 'sha256') ?? undefined) : undefined;
}

/** Returns the path of a file's trust record; each real path has one. */
async function locateRecord(file: string, env: Environment): Promise<string> {
  const real = await realpath(file).catch(() => file);
  const name = createHash('sha256').update(real).digest('hex').slice(0, 32);
  return join(findUserFolder(env), 'trusted', `${name}.json`);
}
