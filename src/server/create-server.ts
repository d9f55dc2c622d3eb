import { randomBytes } from 'node:crypto';
import { resolve, join } from 'node:path';
import { rm, writeFile } from 'node:fs/promises';
import type { Hono } from 'hono';
import { SluiceError, createUlidGenerator, silentLogger, omitUndefined } from '../base/index.js';
import type { Logger } from '../base/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import { compileSecrets, listSensitiveValues } from '../runs/index.js';
import type { Secrets } from '../runs/index.js';
import type { Archive } from '../runs/archive/index.js';
import type { Store } from '../store/index.js';
import { createApp } from './app.js';
import { readConsole } from './console/console.js';
import { RequestError } from './http/problem.js';
import { isLoopback } from './security/origin.js';
import { createGuard } from './security/guard.js';
import type { ServerContext, ServerMeter } from './server-context.js';
import { createMetrics } from './metrics/create-metrics.js';
import { DEFAULT_SETTINGS } from './server-settings.js';
import type { ServerSettings, TokenSettings } from './server-settings.js';
import { makeFolder } from '../base/files/index.js';

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

/** Options for the readiness check. */
interface ReadyCheckOptions {
  readonly store: Pick<Store, 'listRuns'>;
  /** The folder that this process writes runs to; undefined if it runs no worker. */
  readonly writesTo: string | undefined;
}

/** The size of the test file: as much as a short run writes. */
const TEST_BYTES = 64 * 1024;
/** How long a result is reused, because every check writes a file and anyone can request one. */
const VALID_MS = 1000;

/**
 * Creates the check for `/readyz`, which throws `NOT_READY` unless the store responds and the data folder is writable.
 *
 * @example
 * const checkReady = createReadyCheck({ store, writesTo: data })
 * await checkReady()
 */
export function createReadyCheck({ store, writesTo }: ReadyCheckOptions): () => Promise<void> {
  let pending: Promise<void> | undefined;

  async function checkWritable(folder: string): Promise<void> {
    pending ??= tryToWrite(folder).finally(() => {
      setTimeout(() => (pending = undefined), VALID_MS).unref();
    });
    return pending;
  }

  return async () => {
    await store.listRuns({ limit: 1 }).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'The store does not respond. See the server log for the reason, fix it, then try again.',
        { cause },
      );
    });
    if (writesTo === undefined) return;
    await checkWritable(writesTo).catch((cause: unknown) => {
      throw new RequestError(
        'NOT_READY',
        'Cannot write to the data folder. See the server log for the reason, fix it, then try again.',
        {
          cause,
        },
      );
    });
  };
}

/** Writes a test file. It must be a new file, because overwriting an existing one succeeds even on a full disk. */
async function tryToWrite(folder: string): Promise<void> {
  const file = join(folder, `.ready-${process.pid}`);
  await makeFolder(folder);
  await rm(file, { force: true });
  try {
    await writeFile(file, Buffer.alloc(TEST_BYTES), { flag: 'wx', flush: true });
  } finally {
    await rm(file, { force: true });
  }
}
