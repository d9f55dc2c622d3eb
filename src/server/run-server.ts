import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { getRequestListener } from './http/hono.js';
import { startPlacing, type Worker } from '../orders/dispatch/index.js';
import type { Placement } from '../orders/placement/index.js';
import { SluiceError, getErrorCode, getErrorMessage } from '../base/index.js';
import { CONSOLE_FOLDER } from './console/console.js';
import { createServer, DEFAULT_HOST, type ServerOptions, type SluiceServer } from './create-server.js';
import { createGate } from './http/admission.js';
import { formatUrl, groupAddress } from './security/origin.js';
import { notify, type NotifyOptions } from './waiting/waiting-list.js';

/** The options of {@link runServer}; by default it serves the console of this package. */
export interface RunServerOptions extends ServerOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Files with the certificate chain and the private key; the server then speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** This process's worker, if any. */
  readonly worker?: Pick<Worker, 'stop'>;
  /** The placements whose places this server starts, and its address as they reach it; its own by default. */
  readonly placing?: { readonly placements: readonly Placement[]; readonly server?: string | undefined };
  /** The webhook that is notified when something waits for a human. */
  readonly notify?: Pick<NotifyOptions, 'post' | 'consoleUrl'>;
}

export async function runServer(options: RunServerOptions) {
  const { host = DEFAULT_HOST, port, worker } = options;
  const server = createServer({ web: CONSOLE_FOLDER, hasWorker: worker !== undefined, ...options });
  // While the server handles a request, its connection is idle and must not be closed for it.
  const stallMs = Math.max(STALL_MS, server.context.settings.limits.requestMs + STALL_MARGIN_MS);
  const { store, logger, shutdownSignal } = server.context;
  const onError = (error: Error): void => logger.warn('cannot accept a connection', { error: error.message });
  const tls = options.tls === undefined ? {} : { tls: await readTls(options.tls) };
  const listening = await listen(server, { host, port, stallMs, onError, ...tls });
  const placing = startPlacingRuns(options, server, listening.url);
  const { consoleUrl = listening.url, post } = options.notify ?? {};
  const notified = post === undefined ? undefined : notify({ post, consoleUrl, store, logger, shutdownSignal });
  return {
    url: listening.url,
    server,
    /**
     * Shuts down gracefully: refuses new work, lets the worker finish, then closes streams and connections. Runs that
     * have not ended after `graceMs` are stopped: runs of orders are escalated to the inbox, all others end as canceled.
     * Read requests are served until then.
     */
    stop: async (stopOptions?: { readonly graceMs?: number }) => {
      server.drain();
      await placing.stop();
      await worker?.stop(stopOptions);
      server.end();
      await notified;
      await listening.close();
    },
  };
}

/** Starts the duty that places runs, and ends those whose placement no server has. Their workers need tokens for one run. */
function startPlacingRuns({ placing }: RunServerOptions, { context }: SluiceServer, url: string) {
  const { guard, work, store, lead, data, logger, archive, settings } = context;
  const { leaseMs, concurrencyByType, workerLostRetries } = work;
  return startPlacing({
    store,
    lead,
    data,
    logger,
    leaseMs,
    concurrencyByType,
    workerLostRetries,
    budgets: settings.budgets,
    sessions: archive?.sessions,
    placements: placing?.placements ?? [],
    server: placing?.server ?? url,
    createRunToken: () => guard.createRunToken(),
  });
}

/** The maximum header size: many times what clients need for cookies and tokens. */
const HEADER_BYTES = 16 * 1024;
/** The time limits for receiving the headers and the whole request: a slower client would block a connection. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 5_000;
/** A connection that sends and accepts nothing for this long is closed; streams send a heartbeat more often. */
const STALL_MS = 60_000;
const STALL_MARGIN_MS = 10_000;
const CLOSE_GRACE_MS = 2_000;
/** Connections that wait to be accepted, one in each turn of the event loop: a fleet connects at once after a restart. */
const BACKLOG = 4096;

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly stallMs?: number;
  /** The certificate chain and the private key, in PEM format. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Called if a connection cannot be accepted, for example because the system has no descriptors left. */
  readonly onError?: (error: Error) => void;
}

/** Opens the port. Throws `ADDRESS_UNAVAILABLE` if it is in use or not permitted. */
export async function listen(
  { app }: Pick<SluiceServer, 'app'>,
  { host, port, stallMs = STALL_MS, onError = () => undefined, tls }: ListenOptions,
) {
  const handleRequest = getRequestListener(app.fetch);
  const options = {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: HEADERS_MS / 2,
  };
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void handleRequest(incoming, outgoing);
  const server: Server =
    tls === undefined ? createHttpServer(options, answer) : createHttpsServer({ ...options, ...tls }, answer);
  const limit = await chooseConnectionLimit();
  server.maxConnections = limit;
  server.setTimeout(stallMs);
  const connections = createGate(limit);
  server.on('connection', (socket) => {
    const leave = connections.enter(groupAddress(socket.remoteAddress));
    if (leave === undefined) socket.destroy();
    else socket.once('close', leave);
  });
  await open(server, host, port);
  // Without a listener, the error would crash the process.
  server.on('error', onError);
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    /** `http://127.0.0.1:7171`. */
    url: formatUrl(host, actualPort).replace(/^http:/, tls === undefined ? 'http:' : 'https:'),
    /** Stops accepting connections; open ones end after their current request, after `graceMs` at the latest. */
    async close(graceMs = CLOSE_GRACE_MS) {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Reads the certificate and the key; throws `INVALID_CONFIG` if they cannot be used. */
async function readTls({ cert, key }: NonNullable<RunServerOptions['tls']>) {
  // Not repeated in a message: it would print the key.
  if ([cert, key].some((file) => file.includes('-----BEGIN')))
    throw new SluiceError(
      'INVALID_CONFIG',
      'The setting "server.tls" has a certificate or a key. Name their files instead.',
    );
  try {
    const tls = { cert: await readFile(cert), key: await readFile(key) };
    createSecureContext(tls);
    return tls;
  } catch (error) {
    throw new SluiceError(
      'INVALID_CONFIG',
      `Cannot use the certificate "${cert}" with the key "${key}": ${getErrorMessage(error)}. Fix the setting "server.tls".`,
      { cause: error },
    );
  }
}

async function open(server: Server, host: string, port: number): Promise<void> {
  server.listen({ port, host, backlog: BACKLOG });
  await once(server, 'listening').catch((error: unknown) => {
    const reason = getErrorCode(error) ?? getErrorMessage(error);
    const message = `Cannot listen on "${host}", port ${port}: ${reason}. Choose another address with --port or --host.`;
    throw new SluiceError('ADDRESS_UNAVAILABLE', message, { cause: error });
  });
}

const MAX_CONNECTIONS = 10_000;
const LIMITS_FILE = '/proc/self/limits';

/**
 * Chooses the limit for concurrent connections: half of the descriptors that this process may open, because runs,
 * stores and child processes need the rest; at most 10,000.
 */
async function chooseConnectionLimit(): Promise<number> {
  const limits = await readFile(LIMITS_FILE, 'utf8').catch(() => '');
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2));
}
