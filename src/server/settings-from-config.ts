import { readTokens } from '../config/index.js';
import type { Config } from '../config/index.js';
import { DEFAULT_LIMITS } from './server-settings.js';
import type { ServerLimits, ServerSettings } from './server-settings.js';
import { present } from './present.js';

/**
 * What the configuration and the environment say about a server. Without `roots` requests may name the folder the server
 * was started in, and what is below.
 */
export function settingsFromConfig(
  config: Pick<Config, 'tokens' | 'roots' | 'commands' | 'server'>,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): ServerSettings {
  const { server = {} } = config;
  return {
    tokens: readTokens(config, env),
    roots: config.roots ?? [cwd],
    commands: config.commands ?? [],
    env: server.env ?? [],
    allowBypass: server.allow_bypass ?? false,
    origins: server.origins ?? [],
    hosts: server.hosts ?? [],
    https: server.https ?? false,
    limits: { ...DEFAULT_LIMITS, ...limitsOf(server.limits ?? {}) },
  };
}

type LimitsConfig = NonNullable<NonNullable<Config['server']>['limits']>;

function limitsOf(limits: LimitsConfig): Partial<ServerLimits> {
  return present({
    bodyBytes: limits.body_bytes,
    requestMs: limits.request_s === undefined ? undefined : limits.request_s * 1000,
    requestsAtOnce: limits.requests_at_once,
    streamsAtOnce: limits.streams_at_once,
    requestsPerMinute: limits.requests_per_minute,
    refusalsPerMinute: limits.refusals_per_minute,
  });
}
