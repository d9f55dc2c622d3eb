import type { Context, Hono } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { createClient } from '../../client/index.js';
import { createDeadlines } from '../http/admission.js';
import type { Gate } from '../http/admission.js';
import type { BodyAdmission } from '../http/body-admission.js';
import { readHeader, readOutgoingMessage } from '../http/read-request.js';
import type { CheckedRequest } from '../http/request-checks.js';
import { createRoute } from '../http/route.js';
import type { ServerContext } from '../server-context.js';

/** Not in the table of endpoints: the protocol describes its own messages, and its clients are not ours. */
export const MCP_ENDPOINT = {
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  summary: 'The Model Context Protocol over its streamable HTTP transport.',
  body: { anyOf: [{ type: 'object' }, { type: 'array' }] },
  answer: { status: 200, media: 'application/json' },
  // The protocol asks for it: a page that tricks a browser into a request may have learned a token.
  checksOrigin: true,
} as const satisfies Endpoint & { readonly checksOrigin: true };

/** Longer than any tool waits. */
const ANSWER_MS = 75_000;

interface McpRoute {
  readonly app: Hono;
  readonly gate: Gate;
  readonly bodies: BodyAdmission;
}

/**
 * Creates the route of the Model Context Protocol. Tools call the endpoints of this server with the token of the request, so
 * that scopes, limits, folders and the names in records are those of any other caller.
 */
export function createMcpRoute(server: ServerContext, { app, gate, bodies }: McpRoute) {
  const { settings, logger, ending } = server;
  // The token that a server makes for its user is a person's; an agent needs one that was given to it.
  const hasGivenTokens = settings.tokens.length > 0 && settings.openRead !== true;

  async function handler({ body, caller, context }: CheckedRequest<Endpoint>): Promise<Response> {
    const { answerMcp } = await import('../../mcp/index.js');
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, ending, AbortSignal.timeout(ANSWER_MS)]);
    const stopWatching = watchConnection(context, () => over.abort());
    try {
      return await answerMcp(
        {
          client: createOwnClient(app, context),
          mayDecide: hasGivenTokens && caller.scopes.has('decide'),
          logger,
        },
        { headers: pickHeaders(context, PROTOCOL_HEADERS), body, signal },
      );
    } finally {
      stopWatching();
      over.abort();
    }
  }

  const deadlines = createDeadlines(ANSWER_MS);
  return createRoute(server, { name: 'mcp', endpoint: MCP_ENDPOINT, handler, gate, bodies, deadlines });
}

/** A client that calls this server without a connection, as the caller of a request. */
function createOwnClient(app: Hono, context: Context) {
  const passed = pickHeaders(context, ['authorization', 'traceparent']);
  return createClient({
    url: 'http://127.0.0.1',
    // Replaced below. Without one the client would look for the token of this process' user.
    token: 'of-the-caller',
    fetch: async (address, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      for (const [name, value] of Object.entries(passed)) headers.set(name, value);
      return app.request(address, { ...init, headers });
    },
  });
}

const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

function pickHeaders(context: Context, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = readHeader(context, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Calls back when the client is gone before its answer; without a connection, never. */
function watchConnection(context: Context, onGone: () => void): () => void {
  const outgoing = readOutgoingMessage(context);
  if (outgoing === undefined) return () => undefined;
  if (outgoing.closed) onGone();
  outgoing.once('close', onGone);
  return () => outgoing.off('close', onGone);
}
