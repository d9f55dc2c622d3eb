import { Hono } from 'hono';
import type { Context } from 'hono';
import { ENDPOINTS } from '../api/index.js';
import type { Endpoint, EndpointName } from '../api/index.js';
import { createProblemResponse, createPreflightResponse } from './http/responses.js';
import { createRoute } from './http/route.js';
import { createDeadlines, createGate } from './http/admission.js';
import type { Gate } from './http/admission.js';
import { createBodyAdmission } from './http/body-admission.js';
import type { DirectRoute } from './http/direct-listener.js';
import { EndpointRouter } from './http/endpoint-router.js';
import { MCP_ENDPOINT, createMcpRoute } from './mcp/create-mcp-route.js';
import { addPages } from './pages/add-pages.js';
import type { Handler, Handlers } from './http/request-checks.js';
import type { ServerContext } from './server-context.js';
import { createBudgetHandlers } from './handlers/budgets.js';
import { createEngineHandlers } from './handlers/engines.js';
import { createHealthHandlers, createMetricHandlers } from './handlers/health.js';
import { createInboxHandlers } from './handlers/inbox.js';
import { createOrderHandlers } from './handlers/orders.js';
import { createParseHandlers } from './handlers/parse.js';
import { createRecordHandlers } from './handlers/records.js';
import { createRunEventHandlers } from './handlers/run-events.js';
import { createRunExportHandlers, createRunFileHandlers, createRunRawHandlers } from './handlers/run-files.js';
import { createReportHandlers } from './handlers/reports.js';
import { createRunHandlers } from './handlers/runs.js';
import { createSessionHandlers } from './handlers/session.js';
import { createStatisticsHandlers } from './handlers/statistics.js';
import { createTriggerHandlers } from './handlers/triggers.js';
import { createWaitingHandlers } from './handlers/waiting.js';
import { RequestError } from './http/problem.js';
import { createParsing, INLINE_BYTES } from './parse/create-parsing.js';
import type { Parsing } from './parse/create-parsing.js';

/** All of a server's endpoints and pages. */
export interface App {
  /** The server as a function from request to response. Tests call it without a port. */
  readonly app: Hono;
  /** Endpoints whose short requests can bypass `app`. */
  readonly directRoutes: readonly DirectRoute[];
}

export function createApp(server: ServerContext): App {
  const app = new Hono({ router: new EndpointRouter() });
  const { limits, origins } = server.settings;
  const directRoutes: DirectRoute[] = [];
  const requests = createGate(limits.requestsAtOnce);
  const streams = createGate(limits.streamsAtOnce);
  const downloads = createGate(limits.requestsAtOnce);
  const bodies = createBodyAdmission(limits);
  const deadlines = createDeadlines(limits.requestMs);
  const parsing = createParsing(server);
  const handlers = createHandlers(server, parsing);

  for (const [key, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const name = key as EndpointName;
    const handler = handlers[name] as Handler<Endpoint>;
    const gate = ALWAYS_ADMITTED.has(name) ? undefined : chooseGate(endpoint.response.media);
    const largeBody = name === 'parse' ? { above: INLINE_BYTES, answer: parsing.parseInThread } : undefined;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const route = createRoute(server, { name, endpoint, handler, gate, bodies, deadlines, largeBody });
    app.on(endpoint.method, path, route.respond);
    // Cross-origin pages need headers that depend on the request.
    if (DIRECT.has(name) && origins.length === 0)
      directRoutes.push({ method: endpoint.method, path, respondWithPlain: route.respondWithPlain });
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

  app.notFound((context) => handleUnmatchedRequest(context, server));
  app.onError((error: Error, _context: Context) => {
    const requestId = server.newRequestId();
    server.logger.error('request failed', { request_id: requestId, error });
    return createProblemResponse(error, requestId);
  });
  return { app, directRoutes };
}

/** The endpoints that bypass hono. Callers send them everything an agent prints, so latency matters. */
const DIRECT: ReadonlySet<EndpointName> = new Set(['parse']);

/** The endpoints that respond even under load, so monitoring does not consider the server dead. */
const ALWAYS_ADMITTED: ReadonlySet<EndpointName> = new Set(['health', 'ready']);

/** Creates the handlers for all endpoints; each resource has its own file. */
function createHandlers(context: ServerContext, parsing: Parsing): Handlers {
  return {
    ...createParseHandlers(parsing),
    ...createRunHandlers(context),
    ...createRunEventHandlers(context),
    ...createRunRawHandlers(context),
    ...createRunFileHandlers(context),
    ...createRunExportHandlers(context),
    ...createReportHandlers(context),
    ...createBudgetHandlers(context),
    ...createTriggerHandlers(context),
    ...createEngineHandlers(context),
    ...createOrderHandlers(context),
    ...createInboxHandlers(context),
    ...createWaitingHandlers(context),
    ...createRecordHandlers(context),
    ...createStatisticsHandlers(context),
    ...createSessionHandlers(context),
    ...createHealthHandlers(context),
    ...createMetricHandlers(context),
  };
}

/**
 * Creates the response when no route matches: a CORS preflight, a wrong method or an unknown path. Catch-all routes
 * could do the same, but they would slow down every request.
 */
function handleUnmatchedRequest(context: Context, { guard, settings, newRequestId }: ServerContext): Response {
  const { path, method } = context.req;
  try {
    guard.checkHost(context);
  } catch (error) {
    return createProblemResponse(error, newRequestId());
  }
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((known) => known.method);
  if (methods.length === 0) {
    return createProblemResponse(
      new RequestError('NO_SUCH_PATH', 'No such path. See /docs for the list of endpoints.'),
      newRequestId(),
    );
  }
  if (method === 'OPTIONS') return createPreflightResponse(context, methods, settings.origins);
  const allowed = methods.join(', ');
  const response = createProblemResponse(
    new RequestError('METHOD_NOT_ALLOWED', `This path does not support this method. Use ${allowed}.`),
    newRequestId(),
  );
  response.headers.set('allow', allowed);
  return response;
}

const PATTERNS = [...Object.values<Endpoint>(ENDPOINTS), MCP_ENDPOINT].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
