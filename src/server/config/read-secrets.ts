import type { Config } from './config.js';
import { listTokenValues } from './read-tokens.js';

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
