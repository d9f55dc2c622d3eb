import type { Context, Hono } from 'hono';
import type { Endpoint } from '../api/index.js';
import { createClient } from '../client/index.js';
import { createDeadlines } from './admission.js';
import type { Gate, BodyAdmission } from './admission.js';
import { readOutgoingMessage } from './read-request.js';
import type { CheckedRequest } from './request-checks.js';
import { createRoute } from './route.js';
import type { ServerContext } from '../server-context.js';

/**
 * The endpoint of the Model Context Protocol. It is not in the endpoint table, because the protocol defines its
 * messages.
 */
export const MCP_ENDPOINT = {
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  summary: 'The Model Context Protocol over its streamable HTTP transport.',
  body: { anyOf: [{ type: 'object' }, { type: 'array' }] },
  response: { status: 200, media: 'application/json' },
  // Required by the protocol: a page that tricks a browser into a request might have obtained a token.
  checksOrigin: true,
} as const satisfies Endpoint & { readonly checksOrigin: true };

/** The request timeout, which is longer than any tool takes. */
const REQUEST_MS = 75_000;

interface McpRoute {
  readonly app: Hono;
  readonly gate: Gate;
  readonly bodies: BodyAdmission;
}

/**
 * Creates the Model Context Protocol route. Tools call the endpoints of this server with the request's token, so the
 * same scopes, limits, folders and recorded names apply as for any other caller.
 */
export function createMcpRoute(server: ServerContext, { app, gate, bodies }: McpRoute) {
  const { guard, logger, shutdownSignal } = server;

  async function handler({ body, caller, context }: CheckedRequest<Endpoint>): Promise<Response> {
    const { handleMcpRequest } = await import('../mcp/index.js');
    const disconnection = new AbortController();
    const signal = AbortSignal.any([disconnection.signal, shutdownSignal, AbortSignal.timeout(REQUEST_MS)]);
    const stopWatching = watchConnection(context, () => disconnection.abort());
    try {
      return await handleMcpRequest(
        {
          client: createLocalClient(app, context),
          // The token that a server creates for its user is meant for humans. Agents need a configured token to decide.
          mayDecide: guard.hasConfiguredTokens() && caller.scopes.has('decide'),
          logger,
        },
        { headers: pickHeaders(context, PROTOCOL_HEADERS), body, signal },
      );
    } finally {
      stopWatching();
      disconnection.abort();
    }
  }

  const deadlines = createDeadlines(REQUEST_MS);
  return createRoute(server, { name: 'mcp', endpoint: MCP_ENDPOINT, handler, gate, bodies, deadlines });
}

/** Creates a client that calls this server without a connection, on behalf of a request's caller. */
function createLocalClient(app: Hono, context: Context) {
  const forwardedHeaders = pickHeaders(context, ['authorization', 'traceparent']);
  return createClient({
    url: 'http://127.0.0.1',
    // Replaced below by the request's token. Without a value here, the client would send the token of the user who
    // started this process.
    token: 'placeholder',
    fetch: async (address, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      for (const [name, value] of Object.entries(forwardedHeaders)) headers.set(name, value);
      return app.request(address, { ...init, headers });
    },
  });
}

const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

function pickHeaders(context: Context, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = context.req.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Calls `onDisconnect` if the client disconnects before it has the response. Returns the function that stops watching. */
function watchConnection(context: Context, onDisconnect: () => void): () => void {
  const outgoing = readOutgoingMessage(context);
  if (outgoing === undefined) return () => undefined;
  if (outgoing.closed) onDisconnect();
  outgoing.once('close', onDisconnect);
  return () => outgoing.off('close', onDisconnect);
}
