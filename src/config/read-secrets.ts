import { SluiceError } from '../base/index.js';
import type { Config } from './config.js';
import { readTokens } from './read-tokens.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The secrets of the configuration and the environment, which must never be printed: the tokens of the server, of the
 * sinks and of repositories. Longest first, so that a secret which contains another one is masked as a whole.
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
  const ofSinks = variables.map((variable) => (variable === undefined ? '' : (env[variable] ?? '')));
  const secrets = [...tokenValues(config, env), ...ofSinks].filter((secret) => secret !== '');
  return [...new Set(secrets)].toSorted((one, other) => other.length - one.length);
}

/** A worker shares the file with the server and need not have its tokens; the server itself refuses to start. */
function tokenValues(config: Pick<Config, 'tokens'>, env: Environment): readonly string[] {
  try {
    return readTokens(config, env).map(({ value }) => value);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return (config.tokens ?? []).map(({ value, value_env }) => value ?? env[value_env ?? ''] ?? '');
  }
}
