import type { IncomingMessage, ServerResponse } from 'node:http';
import { readHeader } from './read-request.js';
import type { RequestContext } from './read-request.js';
import type { PlainResponse } from './responses.js';

/** Handles a server's requests. */
export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** An endpoint with a fixed path whose result is JSON. */
export interface DirectRoute {
  readonly method: string;
  readonly path: string;
  readonly respondWithPlain: (context: RequestContext) => Promise<PlainResponse | Response>;
}

/** The maximum body size of a direct request. For longer bodies, the cost of hono's objects is negligible. */
const MAX_BODY_BYTES = 16 * 1024;
/** A `Host` header that needs no parsing. Requests with any other header are passed to hono, which validates it. */
const PLAIN_HOST = /^[\w.-]+(?::\d+)?$/;
/** How long to wait for the rest of an unread body before the connection is closed. */
const UNREAD_MS = 500;

/**
 * Creates a server's request listener. Short requests to direct routes bypass hono, because creating its `Request`,
 * context and `Response` takes as long as everything else the server does for such a request. All other requests are
 * passed to `fallback`.
 */
export function createDirectListener(routes: readonly DirectRoute[], fallback: Listener): Listener {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (incoming, outgoing) => {
    const route = byPath.get(incoming.url ?? '');
    if (route !== undefined && route.method === incoming.method && isPlain(incoming))
      // A response that cannot be written must not crash the server.
      respond(route, incoming, outgoing).catch(() => void outgoing.destroy());
    else fallback(incoming, outgoing);
  };
}

function isPlain({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= MAX_BODY_BYTES && PLAIN_HOST.test(headers.host ?? '');
}

async function respond(route: DirectRoute, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const response = await route.respondWithPlain(new DirectContext(incoming, outgoing));
  const { status, headers, body } = response instanceof Response ? await toPlain(response) : response;
  // The client has disconnected.
  if (outgoing.destroyed) return;
  headers['content-length'] = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  outgoing.writeHead(status, headers);
  outgoing.end(body);
  if (!incoming.complete) closeUnread(incoming);
}

async function toPlain(response: Response): Promise<PlainResponse> {
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

/** Closes the connection if the rest of a body does not arrive soon, so a refused request does not block it. */
function closeUnread(incoming: IncomingMessage): void {
  const close = (): void => {
    if (!incoming.complete) incoming.socket.destroySoon();
  };
  setTimeout(close, UNREAD_MS).unref();
}

/** A request without parameters or query; its path is exactly its route's path. */
class DirectContext implements RequestContext {
  readonly env: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.env = { incoming, outgoing };
  }

  get req(): RequestContext['req'] {
    return this;
  }

  get method(): string {
    return this.env.incoming.method ?? '';
  }

  get url(): string {
    return `http://${this.header('host') ?? ''}${this.env.incoming.url ?? ''}`;
  }

  get raw(): { readonly body: null } {
    return { body: null };
  }

  header(name: string): string | undefined {
    return readHeader(this, name);
  }

  query(): Record<string, string> {
    return {};
  }

  param(): Record<string, string> {
    return {};
  }
}
