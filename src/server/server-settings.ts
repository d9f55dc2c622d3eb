import { omitUndefined } from '../base/index.js';
import { DEFAULT_SINKS, readTokens, type Token, type Config, type ModelPrice } from './config/index.js';
import type { BudgetSettings, Schedule } from '../orders/dispatch/index.js';
import type { ApprovalRule } from '../store/records/index.js';
import type { AgentSettings } from '../runs/index.js';
import type { ContainerSettings } from '../runs/sandbox/index.js';

/** Who may use a server. It can be replaced while the server is running. */
export interface TokenSettings {
  /** The tokens and their scopes. Without tokens, every caller may do everything, so access must be restricted elsewhere. */
  readonly tokens: readonly Token[];
  /** Whether scope `read` needs no token; on loopback only. */
  readonly openRead?: boolean;
}

export interface ServerSettings extends TokenSettings {
  /** Folders that requests may use, including everything in them. */
  readonly roots: readonly string[];
  /** Executables that requests may start with engine `command`. */
  readonly commands: readonly string[];
  /** The placements besides `local` that requests may name, with the default image and others (globs). */
  readonly placements: Readonly<Record<string, Pick<ContainerSettings, 'image' | 'images'>>>;
  /** Additional agents besides the built-in engines. */
  readonly agents: Readonly<Record<string, AgentSettings>>;
  /** The environment variables that requests may pass to agents, or patterns of them. */
  readonly env: readonly string[];
  /** Whether a request may use `permissions: bypass`. */
  readonly allowBypass: boolean;
  /** Origins of other sites whose pages may call; none by default. */
  readonly origins: readonly string[];
  /** Host names of the server, in addition to the address it listens on. */
  readonly hosts: readonly string[];
  /** Whether browsers reach the server by HTTPS, directly or through a proxy. */
  readonly https: boolean;
  readonly limits: Readonly<ServerLimits>;
  readonly budgets: BudgetSettings;
  /** Prices by model, for estimates of costs that engines do not report. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** Webhooks that submit orders, by the name in their URL; none by default. */
  readonly triggers: Readonly<Record<string, TriggerSettings>>;
  readonly schedules: Readonly<Record<string, Schedule>>;
  readonly approvals: readonly ApprovalRule[];
  readonly sinks: readonly Readonly<{ name: string; type: string }>[];
}

type TriggerConfig = NonNullable<Config['triggers']>[string];

/** A trigger of the configuration, with the secret itself; a trigger without a secret accepts nothing. */
export type TriggerSettings = Omit<TriggerConfig, 'secret_env' | 'request'> & {
  readonly secret: string | undefined;
  readonly request: Readonly<Record<string, unknown>> & { readonly instructions?: string };
};

type ServerLimits = typeof DEFAULT_LIMITS;

export const DEFAULT_LIMITS = {
  bodyBytes: 16 * 1024 * 1024,
  /** How long a response may take; streams are excluded. */
  requestMs: 30_000,
  /** The maximum number of concurrent requests; more are refused. */
  requestsAtOnce: 1024,
  streamsAtOnce: 4096,
  requestsPerMinute: 60_000,
  /** The maximum number of wrong tokens per address and minute. */
  refusalsPerMinute: 60,
};

/** The settings of a server on loopback without a configuration. */
export const DEFAULT_SETTINGS = readServerSettings({ roots: [] }, { env: {}, cwd: '' });

/**
 * Reads the settings from the configuration and the environment. Without `roots`, requests may use the folder the
 * server was started in, and everything in it.
 */
export function readServerSettings(config: Partial<Config>, { env, cwd, localToken }: SettingsSources): ServerSettings {
  const { server = {} } = config;
  return {
    ...readTokenSettings(config, { env, localToken }),
    roots: config.roots ?? [cwd],
    commands: config.commands ?? [],
    placements: { container: {}, ...config.placements },
    agents: config.agents ?? {},
    env: server.env ?? [],
    allowBypass: server.allow_bypass ?? false,
    origins: server.origins ?? [],
    hosts: server.hosts ?? [],
    https: server.https ?? server.tls !== undefined,
    limits: { ...DEFAULT_LIMITS, ...readLimits(server.limits ?? {}) },
    budgets: config.budgets ?? {},
    prices: config.prices ?? {},
    // Secrets are never in the configuration file.
    triggers: Object.fromEntries(
      Object.entries(config.triggers ?? {}).map(([name, { secret_env, ...rest }]) => [
        name,
        { ...rest, secret: env[secret_env] },
      ]),
    ),
    schedules: config.schedules ?? {},
    approvals: config.approvals ?? [],
    sinks: (config.sinks ?? DEFAULT_SINKS).map(({ type, name = type }) => ({ name, type })),
  };
}

interface SettingsSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The current user's token, on loopback without configured tokens; reading then needs no token. */
  readonly localToken?: string | undefined;
}

/** Reads the server's tokens: the configured tokens or, if none are configured, the current user's token. */
export function readTokenSettings(
  config: Pick<Config, 'tokens'>,
  { env, localToken }: Omit<SettingsSources, 'cwd'>,
): TokenSettings {
  const tokens = readTokens(config, env);
  if (tokens.length > 0 || localToken === undefined) return { tokens };
  return { tokens: [{ name: 'local', scopes: ['read', 'run', 'decide'], value: localToken }], openRead: true };
}

function readLimits(limits: NonNullable<NonNullable<Config['server']>['limits']>): Partial<ServerLimits> {
  return omitUndefined({
    bodyBytes: limits.body_bytes,
    requestMs: limits.request_s === undefined ? undefined : limits.request_s * 1000,
    requestsAtOnce: limits.requests_at_once,
    streamsAtOnce: limits.streams_at_once,
    requestsPerMinute: limits.requests_per_minute,
    refusalsPerMinute: limits.refusals_per_minute,
  });
}
