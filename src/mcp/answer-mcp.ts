import { getErrorMessage } from '../base/index.js';
import { createServerFactory } from './create-mcp-server.js';
import type { McpSession } from './create-mcp-server.js';
import { WebStandardStreamableHTTPServerTransport, createMcpHandler, isLegacyRequest } from './sdk.js';
import type { McpServer } from './sdk.js';

/** A message, or several, that a client has posted. */
export interface McpPost {
  /** The headers of the protocol; tokens are not among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the body. */
  readonly body: unknown;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/**
 * Answers one request of the streamable HTTP transport, in the current revision of the protocol and in those with
 * `initialize`. No sessions are kept: each request stands for itself, so there is nothing to bound or to lose.
 */
export async function answerMcp(session: McpSession, { headers, body, signal }: McpPost): Promise<Response> {
  const createServer = createServerFactory(session);
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, signal });
  if (await isLegacyRequest(request, body)) return answerWithInitialize(createServer(), request, body);
  const onerror = (error: Error): void => session.logger.info('MCP request', { error: getErrorMessage(error) });
  // Tools do not change while the server runs, so clients need not listen for changes.
  const handler = createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0, onerror });
  return handler.fetch(request, { parsedBody: body });
}

/** As JSON, not as a stream: a tool sends nothing before its result. */
async function answerWithInitialize(server: McpServer, request: Request, parsedBody: unknown): Promise<Response> {
  const { signal } = request;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  const gone = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true });
  });
  await server.connect(transport);
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody }), gone]);
  } finally {
    // A client that is gone must not leave calls behind that wait.
    await server.close();
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
