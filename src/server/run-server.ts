import { createServer as createHttpServer } from 'node:http';
import type { Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Worker } from '../dispatch/index.js';
import { SluiceError } from '../base/index.js';
import { CONSOLE_FOLDER } from './console/read-console.js';
import type { ServerOptions, SluiceServer } from './create-server.js';
import { createServer, DEFAULT_HOST } from './create-server.js';
import { createGate } from './http/admission.js';
import { chooseConnectionLimit } from './http/connections.js';
import { formatUrl, groupAddress } from './security/origin.js';
import { startNotifier } from './waiting/notify-people.js';
import type { NotifyOptions } from './waiting/notify-people.js';

/** A running server. */
export interface RunningServer {
  readonly url: string;
  readonly server: SluiceServer;
  /**
   * Shuts down gracefully: refuses new work, lets the worker finish (after `graceMs` the rest is stopped: such orders go to
   * a person, such runs end as canceled), closes streams and connections. Read requests are served until then.
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/** The options of {@link runServer}; the console is the package's own by default. */
export interface RunServerOptions extends ServerOptions {
  /** 0 selects any free port. */
  readonly port: number;
  /** The worker of this process, if it has one. */
  readonly worker?: Pick<Worker, 'stop'>;
  /** How people are notified when something starts to wait for them. */
  readonly notify?: Pick<NotifyOptions, 'post' | 'consoleUrl'>;
}

/**
 * Starts a server on a port.
 *
 * @example
 * const running = await runServer({ store, lead, data, port: 7171 })
 * process.once('SIGTERM', () => void running.stop({ graceMs: 30_000 }))
 */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port, worker } = options;
  const server = createServer({ web: CONSOLE_FOLDER, worksHere: worker !== undefined, ...options });
  const listening: Listening = await listen(server, { host, port });
  const { store, logger, ending } = server.context;
  const consoleUrl = options.notify?.consoleUrl ?? listening.url;
  const notifier =
    options.notify === undefined ? undefined : startNotifier({ ...options.notify, consoleUrl, store, logger, ending });
  return {
    url: listening.url,
    server,
    async stop(how) {
      server.drain();
      await worker?.stop(how);
      server.end();
      await notifier?.stopped;
      await listening.close();
    },
  };
}

/** An open port. */
export interface Listening {
  /** `http://127.0.0.1:7171`. */
  readonly url: string;
  readonly port: number;
  /** Accepts no more connections; open ones end after their current request, at the latest after `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** More than our clients send: cookies and tokens fit many times. */
const HEADER_BYTES = 16 * 1024;
/** A client that needs longer is blocking a connection. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 5_000;
/** A connection that sends and accepts nothing for this long is closed; streams send a heartbeat more often. */
const STALL_MS = 60_000;
const CLOSE_GRACE_MS = 2_000;

/** Opens the port. Throws `ADDRESS_UNAVAILABLE` if it is in use or not permitted. */
export async function listen(
  { app }: Pick<SluiceServer, 'app'>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const answer = getRequestListener(app.fetch);
  const server = createHttpServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: HEADERS_MS / 2,
    },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  const limit = await chooseConnectionLimit();
  server.maxConnections = limit;
  server.setTimeout(STALL_MS);
  const connections = createGate(limit);
  server.on('connection', (socket) => {
    const leave = connections.enter(groupAddress(socket.remoteAddress));
    if (leave === undefined) socket.destroy();
    else socket.once('close', leave);
  });
  await open(server, host, port);
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
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `Cannot listen on "${host}", port ${port}: ${error.code ?? error.message}. Choose another with --port or --host.`;
      reject(new SluiceError('ADDRESS_UNAVAILABLE', message, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}
