import type { Token } from '../config/index.js';

/** What can be chosen about a server. */
export interface ServerSettings {
  readonly tokens: readonly Token[];
  /** Folders that requests may name, and all below them. */
  readonly roots: readonly string[];
  /** Programs that engine `command` may start over HTTP. */
  readonly commands: readonly string[];
  /** Environment variables, or patterns of them, that requests may ask to hand on to agents, named exactly so. */
  readonly env: readonly string[];
  /** Whether a request may ask for `permissions: bypass`. */
  readonly allowBypass: boolean;
  /** Origins of other sites whose pages may call; none by default. */
  readonly origins: readonly string[];
  /** Names under which the server is reached, beside the address it listens on. */
  readonly hosts: readonly string[];
  /** Whether browsers reach it by https, through a proxy. */
  readonly https: boolean;
  readonly limits: ServerLimits;
}

/** What one server takes on, and one caller may ask for. */
export interface ServerLimits {
  readonly bodyBytes: number;
  /** How long an answer may take; streams are not counted. */
  readonly requestMs: number;
  /** How many requests are answered at once; more are refused. */
  readonly requestsAtOnce: number;
  /** How many streams are open at once. */
  readonly streamsAtOnce: number;
  /** How many requests one caller may make in a minute. */
  readonly requestsPerMinute: number;
  /** How many wrong tokens one address may send in a minute. */
  readonly refusalsPerMinute: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 16 * 1024 * 1024,
  requestMs: 30_000,
  requestsAtOnce: 1024,
  streamsAtOnce: 4096,
  requestsPerMinute: 60_000,
  refusalsPerMinute: 60,
};

/** A server on loopback that nothing was said about. */
export const DEFAULT_SETTINGS: ServerSettings = {
  tokens: [],
  roots: [],
  commands: [],
  env: [],
  allowBypass: false,
  origins: [],
  hosts: [],
  https: false,
  limits: DEFAULT_LIMITS,
};
