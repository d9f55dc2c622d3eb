import { createServer as createHttpServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import { getRequestListener } from './http/hono.js';
import type { Worker } from '../orders/dispatch/index.js';
import { SluiceError } from '../base/index.js';
import { CONSOLE_FOLDER } from './console/console.js';
import { createServer, DEFAULT_HOST, type ServerOptions, type SluiceServer } from './create-server.js';
import { createGate } from './http/admission.js';
import { formatUrl, groupAddress } from './security/origin.js';
import { startNotifier, type NotifyOptions } from './waiting/waiting-list.js';

interface RunningServer {
  readonly url: string;
  readonly server: SluiceServer;
  /**
   * Shuts down gracefully: refuses new work, lets the worker finish, then closes streams and connections. Runs that
   * have not ended after `graceMs` are stopped: runs of orders are escalated to the inbox, all others end as canceled.
   * Read requests are served until then.
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/** The options of {@link runServer}; by default it serves the console of this package. */
export interface RunServerOptions extends ServerOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** This process's worker, if any. */
  readonly worker?: Pick<Worker, 'stop'>;
  /** The webhook that is notified when something waits for a human. */
  readonly notify?: Pick<NotifyOptions, 'post' | 'consoleUrl'>;
}

/** Starts a server on a port. */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port, worker } = options;
  const server = createServer({ web: CONSOLE_FOLDER, hasWorker: worker !== undefined, ...options });
  // While the server handles a request, its connection is idle and must not be closed for it.
  const stallMs = Math.max(STALL_MS, server.context.settings.limits.requestMs + STALL_MARGIN_MS);
  const { store, logger, shutdownSignal } = server.context;
  const onError = (error: Error): void => logger.warn('cannot accept a connection', { error: error.message });
  const listening: Listening = await listen(server, { host, port, stallMs, onError });
  const consoleUrl = options.notify?.consoleUrl ?? listening.url;
  const notifier =
    options.notify === undefined
      ? undefined
      : startNotifier({ ...options.notify, consoleUrl, store, logger, shutdownSignal });
  return {
    url: listening.url,
    server,
    async stop(stopOptions) {
      server.drain();
      await worker?.stop(stopOptions);
      server.end();
      await notifier?.stopped;
      await listening.close();
    },
  };
}

/** An open port. */
interface Listening {
  /** `http://127.0.0.1:7171`. */
  readonly url: string;
  readonly port: number;
  /** Stops accepting connections; open ones end after their current request, after `graceMs` at the latest. */
  close(graceMs?: number): Promise<void>;
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

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly stallMs?: number;
  /** Called if a connection cannot be accepted, for example because the system has no descriptors left. */
  readonly onError?: (error: Error) => void;
}

/** Opens the port. Throws `ADDRESS_UNAVAILABLE` if it is in use or not permitted. */
export async function listen(
  { app }: Pick<SluiceServer, 'app'>,
  { host, port, stallMs = STALL_MS, onError = () => undefined }: ListenOptions,
): Promise<Listening> {
  const handleRequest = getRequestListener(app.fetch);
  const server = createHttpServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: HEADERS_MS / 2,
    },
    (incoming, outgoing) => void handleRequest(incoming, outgoing),
  );
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
    url: formatUrl(host, actualPort),
    port: actualPort,
    async close(graceMs = CLOSE_GRACE_MS) {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function open(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      const message = `Cannot listen on "${host}", port ${port}: ${error.code ?? error.message}. Choose another address with --port or --host.`;
      reject(new SluiceError('ADDRESS_UNAVAILABLE', message, { cause: error }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
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
