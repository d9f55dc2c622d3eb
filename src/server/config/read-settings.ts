import { openArchive, readArchiveSettings } from '../../runs/archive/index.js';
import type { Archive } from '../../runs/archive/index.js';
import { findDatabaseFile } from './config.js';
import type { Config } from './config.js';
import { omitUndefined } from '../../base/index.js';
import { findUserFolder } from '../../base/files/index.js';
import type { SandboxPort } from '../../runs/index.js';
import { findTokensFile, listTokenValues } from './tokens.js';

/**
 * Opens the configured archive without contacting it; returns undefined if none is configured.
 *
 * @example
 * const archive = await createArchive({ archive: 's3://runs/team-a' }, process.env)
 */
export async function createArchive(
  { archive }: Pick<Config, 'archive'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Archive | undefined> {
  return archive === undefined ? undefined : openArchive(readArchiveSettings(archive, env));
}

/**
 * Reads the sandbox settings of a process that starts agents, with the files that no sandbox shows: databases, tokens
 * and the configuration.
 *
 * @example
 * readSandbox(config, process.env).hidden // ['/home/ada/.local/share/sluice', '/srv/sluice.db', …]
 */
export function readSandbox(
  { sandbox, database, tokens, file }: Pick<Config, 'sandbox' | 'database' | 'tokens' | 'file'>,
  env: Readonly<Record<string, string | undefined>>,
): SandboxPort {
  const databaseFile = findDatabaseFile(database);
  const tokensFile = findTokensFile(env);
  return {
    ...sandbox,
    hidden: [
      findUserFolder(env),
      ...(tokensFile === undefined ? [] : [tokensFile]),
      ...(databaseFile === undefined ? [] : ['', '-wal', '-shm'].map((ending) => databaseFile + ending)),
    ],
    ...omitUndefined({
      configuration:
        file === null ? undefined : { file, hasTokens: tokens?.some(({ value }) => value !== undefined) === true },
    }),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the secrets that must never be printed, from the configuration and the environment: tokens and secrets of the
 * server, sinks, notifications, triggers and repositories. Longest first, so a secret that contains another secret is
 * masked completely.
 *
 * @example
 * readSecrets({ sinks: [{ type: 'github', token_env: 'GITHUB_TOKEN' }] }, process.env) // ['ghp_…']
 */
export function readSecrets(
  config: Pick<Config, 'tokens' | 'sinks' | 'notify' | 'triggers' | 'repos'>,
  env: Environment,
): readonly string[] {
  const variables = (config.sinks ?? []).flatMap(({ secret_env, token_env }) => [secret_env, token_env]);
  variables.push(
    config.notify?.secret_env,
    ...Object.values(config.triggers ?? {}).map(({ secret_env }) => secret_env),
  );
  for (const repo of config.repos ?? []) if (typeof repo !== 'string') variables.push(repo.token_env);
  const fromVariables = variables.map((variable) => (variable === undefined ? '' : (env[variable] ?? '')));
  const secrets = [...listTokenValues(config, env), ...fromVariables].filter((secret) => secret !== '');
  return [...new Set(secrets)].toSorted((left, right) => right.length - left.length);
}
