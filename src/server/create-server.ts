import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Hono } from 'hono';
import { SluiceError, createUlids, silentLogger } from '../base/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { Store } from '../store/index.js';
import { createApp } from './app.js';
import { readConsole } from './console/read-console.js';
import { present } from './present.js';
import { createReadyCheck } from './ready-check.js';
import { RequestError } from './request-error.js';
import { isLoopback } from './security/address.js';
import { createGuard } from './security/guard.js';
import type { ServerContext } from './server-context.js';
import { createMetrics } from './metrics/create-metrics.js';
import type { ServerMeter } from './server-meter.js';
import { DEFAULT_SETTINGS } from './server-settings.js';
import type { ServerSettings } from './server-settings.js';

/** What a server is made of. */
export interface ServerOptions {
  readonly store: Store;
  readonly lead: Lead;
  /** The workers of the configuration, as the lead has them. */
  readonly wrappers?: Wrappers;
  /** The folder of run folders. */
  readonly data: string;
  /** The address it will listen on; loopback by default. Another one needs tokens. */
  readonly host?: string;
  readonly settings?: Partial<ServerSettings>;
  /** Runs are done in this process: it is ready only while the data folder takes what they leave. */
  readonly worksHere?: boolean;
  /** The folder of the built console; without one there are no pages but `/docs`. */
  readonly web?: string;
  readonly clock?: () => number;
  readonly newId?: () => string;
  readonly logger?: Logger;
  readonly meter?: ServerMeter;
}

/** A server without a port. */
export interface SluiceServer {
  readonly app: Hono;
  readonly context: ServerContext;
  /** Refuses new work and says that it is not ready; what there is can still be read. */
  readonly drain: () => void;
  /** Closes every stream. */
  readonly end: () => void;
}

export const DEFAULT_HOST = '127.0.0.1';

/**
 * Makes a server: everything but its port. Throws `TOKENS_NEEDED` where others could reach it and nobody is asked for a
 * token.
 *
 * @example
 * const { app } = createServer({ store, lead, data: '.sluice' })
 * const answer = await app.request('/v1/parse', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"{}"}' })
 */
export function createServer(options: ServerOptions): SluiceServer {
  const { store, lead, host = DEFAULT_HOST, clock = Date.now } = options;
  const settings: ServerSettings = { ...DEFAULT_SETTINGS, ...options.settings };
  if (!isLoopback(host) && settings.tokens.length === 0) {
    throw new SluiceError(
      'TOKENS_NEEDED',
      `Others can reach ${host}, and nobody would be asked who they are: configure tokens (SLUICE_TOKENS), or listen on ${DEFAULT_HOST}.`,
    );
  }
  const ending = new AbortController();
  let isDraining = false;
  const checkTakesWork = (): void => {
    if (isDraining) throw new RequestError('SHUTTING_DOWN', 'The server is about to end. Ask again in a moment.');
  };

  const data = resolve(options.data);
  const checkParts = createReadyCheck({ store, writesTo: options.worksHere === true ? data : undefined });
  const context: ServerContext = {
    store,
    lead,
    wrappers: options.wrappers ?? {},
    data,
    settings,
    guard: createGuard({ settings, host, clock }),
    console: options.web === undefined ? undefined : readConsole(options.web),
    clock,
    newId: options.newId ?? createUlids(clock),
    newRequestId: createRequestIds(),
    logger: options.logger ?? silentLogger,
    meter: options.meter ?? createMetrics({ store, data: options.data, clock, ...present({ logger: options.logger }) }),
    checkTakesWork,
    async checkReady() {
      checkTakesWork();
      await checkParts();
    },
    ending: ending.signal,
  };
  return {
    app: createApp(context),
    context,
    drain() {
      isDraining = true;
    },
    end() {
      isDraining = true;
      ending.abort();
    },
  };
}

/** Unlike any other server's, and cheaper than chance for every request. */
function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
