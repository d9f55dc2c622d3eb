import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Hono } from 'hono';
import { SluiceError, createUlidGenerator, silentLogger, omitUndefined } from '../base/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import { compileSecrets, listSensitiveValues } from '../runs/index.js';
import type { Secrets } from '../runs/index.js';
import type { Archive } from '../runs/archive/index.js';
import type { Store } from '../store/index.js';
import { createApp } from './app.js';
import { readConsole } from './console/read-console.js';
import { createReadyCheck } from './ready-check.js';
import { RequestError } from './http/problem.js';
import { isLoopback } from './security/origin.js';
import { createGuard } from './security/guard.js';
import type { ServerContext, ServerMeter } from './server-context.js';
import { createMetrics } from './metrics/create-metrics.js';
import { DEFAULT_SETTINGS } from './server-settings.js';
import type { ServerSettings, TokenSettings } from './server-settings.js';

/** Options for a server. */
export interface ServerOptions {
  readonly store: Store;
  readonly lead: Lead;
  /** The configured wrappers; must match the lead's. */
  readonly wrappers?: Wrappers;
  /** The data folder, which contains the run folders. */
  readonly data: string;
  /** The archive with the runs of other hosts. */
  readonly archive?: Archive | undefined;
  /** The address it will listen on; loopback by default. Any other address needs tokens. */
  readonly host?: string;
  readonly settings?: Partial<ServerSettings>;
  /** Secrets to mask in reports and cases; the sensitive variables of this process by default. */
  readonly secrets?: Secrets;
  /** Whether runs execute in this process. If so, it is ready only while the data folder is writable. */
  readonly hasWorker?: boolean;
  /** The console's build folder; without it, `/docs` is the only page. */
  readonly web?: string;
  readonly clock?: () => number;
  readonly newId?: () => string;
  readonly logger?: Logger;
  readonly meter?: ServerMeter;
}

/** A server without a port. */
export interface SluiceServer {
  /** The server as a function from request to response. */
  readonly app: Hono;
  readonly context: ServerContext;
  /** Refuses new work and reports not ready; reading still works. */
  readonly drain: () => void;
  /** Replaces the accepted tokens, and whether reading needs one. Sessions of removed tokens end. */
  readonly replaceTokens: (settings: TokenSettings) => void;
  /** Closes every stream. */
  readonly end: () => void;
}

export const DEFAULT_HOST = '127.0.0.1';

/**
 * Creates a server without a port. Throws `TOKENS_NEEDED` if other hosts could reach it and no tokens are configured.
 *
 * @example
 * const { app } = createServer({ store, lead, data }) const response = await app.request('/v1/parse', { method: 'POST',
 * headers: { 'content-type': 'application/json' }, body: '{"text":"{}"}' })
 */
export function createServer(options: ServerOptions): SluiceServer {
  const { store, lead, host = DEFAULT_HOST, clock = () => store.now() } = options;
  const settings: ServerSettings = { ...DEFAULT_SETTINGS, ...options.settings };
  if (!isLoopback(host) && (settings.tokens.length === 0 || settings.openRead === true)) {
    throw new SluiceError(
      'TOKENS_NEEDED',
      `Cannot listen on "${host}" without tokens, because other hosts could reach the server. Configure tokens (SLUICE_TOKENS), or listen on ${DEFAULT_HOST}.`,
    );
  }
  const shutdown = new AbortController();
  let isDraining = false;
  const checkAcceptsWork = (): void => {
    if (isDraining) throw new RequestError('SHUTTING_DOWN', 'The server is shutting down. Try again in a few seconds.');
  };

  const data = resolve(options.data);
  const checkStoreAndData = createReadyCheck({ store, writesTo: options.hasWorker === true ? data : undefined });
  const context: ServerContext = {
    store,
    lead,
    wrappers: options.wrappers ?? {},
    data,
    archive: options.archive,
    settings,
    secrets: options.secrets ?? compileSecrets({ values: listSensitiveValues(process.env) }),
    guard: createGuard({ settings, host, clock }),
    console: options.web === undefined ? undefined : readConsole(options.web),
    clock,
    newId: options.newId ?? createUlidGenerator(clock),
    newRequestId: createRequestIds(),
    logger: options.logger ?? silentLogger,
    meter:
      options.meter ??
      createMetrics({ store, data: options.data, clock, ...omitUndefined({ logger: options.logger }) }),
    checkAcceptsWork,
    async checkReady() {
      checkAcceptsWork();
      await checkStoreAndData();
    },
    shutdownSignal: shutdown.signal,
  };
  return {
    app: createApp(context),
    context,
    replaceTokens: (replacement) => context.guard.replaceTokens(replacement),
    drain() {
      isDraining = true;
    },
    end() {
      isDraining = true;
      shutdown.abort();
    },
  };
}

/** Creates request ids that are unique across servers. Counting is cheaper than random bytes for every request. */
function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
