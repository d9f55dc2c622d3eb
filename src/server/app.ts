import { Hono, RESPONSE_ALREADY_SENT } from './http/hono.js';
import type { Context } from 'hono';
import { ENDPOINTS } from './api/index.js';
import type { Endpoint, EndpointName } from './api/index.js';
import { allowOrigins, completeResponse, createProblemResponse } from './http/responses.js';
import { readOutgoingMessage } from './http/read-request.js';
import { createRoute } from './http/route.js';
import { createDeadlines, createGate, createBodyAdmission } from './http/admission.js';
import type { Gate } from './http/admission.js';
import { MCP_ENDPOINT, createMcpRoute } from './http/create-mcp-route.js';
import { addPages } from './pages/add-pages.js';
import type { Handler, Handlers } from './http/request-checks.js';
import type { ServerContext } from './server-context.js';
import { createInboxHandlers, createOrderHandlers } from './handlers/orders.js';
import { createRecordHandlers } from './handlers/records.js';
import { createServiceHandlers } from './handlers/service.js';
import { createRunEventHandlers } from './handlers/run-events.js';
import { createRunFileHandlers } from './handlers/run-files.js';
import { createRunHandlers } from './handlers/runs.js';
import { createTriggerHandlers } from './handlers/triggers.js';
import { RequestError } from './http/problem.js';
import { createParsing, INLINE_BYTES } from './parse/create-parsing.js';
import type { Parsing } from './parse/create-parsing.js';

/** Creates the server as a function from request to response, with all endpoints and pages; tests call it without a port. */
export function createApp(server: ServerContext): Hono {
  const app = new Hono();
  const { limits, origins } = server.settings;
  const requests = createGate(limits.requestsAtOnce);
  const streams = createGate(limits.streamsAtOnce);
  const downloads = createGate(limits.requestsAtOnce);
  const bodies = createBodyAdmission(limits);
  const deadlines = createDeadlines(limits.requestMs);
  const parsing = createParsing(server);
  const handlers = createHandlers(server, parsing);

  app.use(async (context, next) => {
    server.guard.checkHost(context);
    await next();
    if (readOutgoingMessage(context)?.headersSent !== true) return;
    // A stream has written to the connection itself. hono may have copied its response to add headers, and the adapter
    // recognizes only the original.
    context.res = undefined;
    context.res = RESPONSE_ALREADY_SENT;
  });
  if (origins.length > 0) app.use(allowOrigins(origins, server.newRequestId));
  for (const [key, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const name = key as EndpointName;
    const handler = handlers[name] as Handler<Endpoint>;
    const gate = ALWAYS_ADMITTED.has(name) ? undefined : chooseGate(endpoint.response.media);
    const largeBody = name === 'parse' ? { above: INLINE_BYTES, answer: parsing.parseInThread } : undefined;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(endpoint.method, path, createRoute(server, { name, endpoint, handler, gate, bodies, deadlines, largeBody }));
  }
  app.on(MCP_ENDPOINT.method, MCP_ENDPOINT.path, createMcpRoute(server, { app, gate: streams, bodies }));
  addPages(app, server);

  /**
   * Chooses the concurrency limit for an endpoint. A slow client can take a long time to download, so downloads must
   * not occupy the slots of other requests.
   */
  function chooseGate(media: string): Gate {
    if (media === 'text/event-stream') return streams;
    return media === 'application/json' ? requests : downloads;
  }

  app.notFound((context) => createUnmatchedResponse(context, server.newRequestId()));
  app.onError((error) => {
    const requestId = server.newRequestId();
    if (!(error instanceof RequestError)) server.logger.error('request failed', { request_id: requestId, error });
    return createProblemResponse(error, requestId);
  });
  return app;
}

/** The endpoints that respond even under load, so monitoring does not consider the server dead. */
const ALWAYS_ADMITTED: ReadonlySet<EndpointName> = new Set(['health', 'ready']);

/** Creates the handlers for all endpoints; each resource has its own file. */
function createHandlers(context: ServerContext, parsing: Parsing): Handlers {
  return {
    parse: ({ body, caller }) => parsing.answer(body, caller.name),
    ...createRunHandlers(context),
    ...createRunEventHandlers(context),
    ...createRunFileHandlers(context),
    ...createTriggerHandlers(context),
    ...createOrderHandlers(context),
    ...createInboxHandlers(context),
    ...createRecordHandlers(context),
    ...createServiceHandlers(context),
  };
}

/** Creates the response when no route matches: an unknown path, a wrong method, or a preflight that is granted nothing. */
function createUnmatchedResponse({ req: { path, method } }: Context, requestId: string): Response {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((known) => known.method);
  if (methods.length === 0)
    return createProblemResponse(
      new RequestError('NO_SUCH_PATH', 'No such path. See /docs for the list of endpoints.'),
      requestId,
    );
  const allow = methods.join(', ');
  if (method === 'OPTIONS')
    return completeResponse(new Response(null, { status: 204, headers: { allow: `${allow}, OPTIONS` } }), requestId);
  const message = `This path does not support this method. Use ${allow}.`;
  return createProblemResponse(new RequestError('METHOD_NOT_ALLOWED', message), requestId, { allow });
}

const PATTERNS = [...Object.values<Endpoint>(ENDPOINTS), MCP_ENDPOINT].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
