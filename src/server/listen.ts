import { createServer as createHttpServer } from 'node:http';
import type { Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { SluiceError } from '../base/index.js';
import type { SluiceServer } from './create-server.js';
import { urlOf } from './security/address.js';

/** A server that can be reached. */
export interface Listening {
  /** `http://127.0.0.1:7171`. */
  readonly url: string;
  readonly port: number;
  /** Takes no more connections; those there are end with what they are doing, at the latest after `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** More than any client of ours sends; cookies and tokens fit many times. */
const HEADER_BYTES = 16 * 1024;
/** Whoever needs longer to say what they want is holding a connection, not asking. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 5_000;
const CONNECTIONS = 10_000;
const CLOSE_GRACE_MS = 2_000;

/** Opens the port. Throws `ADDRESS_UNAVAILABLE` if it is taken, or not ours. */
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
  server.maxConnections = CONNECTIONS;
  await open(server, host, port);
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: urlOf(host, actualPort),
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
      const message = `Cannot listen on ${host}, port ${port} (${error.code ?? error.message}). Choose another with --port or --host.`;
      reject(new SluiceError('ADDRESS_UNAVAILABLE', message, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}
