import { getErrorMessage } from '../../base/index.js';
import { createServerFactory } from './create-mcp-server.js';
import type { McpSession } from './create-mcp-server.js';
import { WebStandardStreamableHTTPServerTransport, createMcpHandler, isLegacyRequest } from './sdk.js';
import type { McpServer } from './sdk.js';

/** One or more messages posted by a client. */
export interface McpPost {
  /** The protocol headers, without tokens. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body. */
  readonly body: unknown;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Responds to one request of the streamable HTTP transport, in the current protocol revision or an earlier one with
 * `initialize`. Requests are independent: no protocol session is stored between them.
 */
export async function handleMcpRequest(session: McpSession, { headers, body, signal }: McpPost): Promise<Response> {
  const createServer = createServerFactory(session);
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, signal });
  if (await isLegacyRequest(request, body)) return handleLegacyRequest(createServer(), request, body);
  const onerror = (error: Error): void => session.logger.info('MCP request failed', { error: getErrorMessage(error) });
  // Tools do not change while the server is running, so no subscriptions are needed.
  const handler = createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0, onerror });
  return handler.fetch(request, { parsedBody: body });
}

/** Responds with JSON instead of a stream, because a tool sends nothing before its result. */
async function handleLegacyRequest(server: McpServer, request: Request, parsedBody: unknown): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  const disconnected = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true });
  });
  await server.connect(transport);
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody }), disconnected]);
  } finally {
    // Ends calls that are still waiting after the client has disconnected.
    await server.close();
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
