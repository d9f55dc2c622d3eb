import { Hono } from 'hono';
import type { Context } from 'hono';
import { ENDPOINTS } from '../api/index.js';
import type { Endpoint, EndpointName } from '../api/index.js';
import { answerProblem, answerPreflight } from './http/answer.js';
import { createRoute } from './http/route.js';
import { createDeadlines, createGate } from './http/admission.js';
import type { Gate } from './http/admission.js';
import { createBodyAdmission } from './http/body-admission.js';
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

/** The server as a function from request to response; tests need no port. */
export function createApp(server: ServerContext): Hono {
  const app = new Hono({ router: new EndpointRouter() });
  const { limits } = server.settings;
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
    const gate = ALWAYS_ANSWERED.has(name) ? undefined : chooseGate(endpoint.answer.media);
    const largeBody = name === 'parse' ? { above: INLINE_BYTES, answer: parsing.answerBytes } : undefined;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(endpoint.method, path, createRoute(server, { name, endpoint, handler, gate, bodies, deadlines, largeBody }));
  }
  app.on(MCP_ENDPOINT.method, MCP_ENDPOINT.path, createMcpRoute(server, { app, gate: streams, bodies }));
  addPages(app, server);

  /** Downloads take as long as their readers want, so they must not take the places of other requests. */
  function chooseGate(media: string): Gate {
    if (media === 'text/event-stream') return streams;
    return media === 'application/json' ? requests : downloads;
  }

  app.notFound((context) => answerUnknownPath(context, server));
  app.onError((error: Error, _context: Context) => {
    const requestId = server.newRequestId();
    server.logger.error('request failed', { request_id: requestId, error });
    return answerProblem(error, requestId);
  });
  return app;
}

/** Monitoring must see that the server is busy, not dead. */
const ALWAYS_ANSWERED: ReadonlySet<EndpointName> = new Set(['health', 'ready']);

/** The handlers of all endpoints, from one file per resource. */
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
 * The response if no route matches: a CORS preflight, a wrong method, an unknown path. Catch-all routes would slow down
 * every request.
 */
function answerUnknownPath(context: Context, { guard, settings, newRequestId }: ServerContext): Response {
  const { path, method } = context.req;
  try {
    guard.checkHost(context);
  } catch (error) {
    return answerProblem(error, newRequestId());
  }
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((known) => known.method);
  if (methods.length === 0) {
    return answerProblem(
      new RequestError('NO_SUCH_PATH', 'No such path. See /docs for the list of endpoints.'),
      newRequestId(),
    );
  }
  if (method === 'OPTIONS') return answerPreflight(context, methods, settings.origins);
  const allowed = methods.join(', ');
  const answer = answerProblem(
    new RequestError('METHOD_NOT_ALLOWED', `This path does not support the method. Use ${allowed}.`),
    newRequestId(),
  );
  answer.headers.set('allow', allowed);
  return answer;
}

const PATTERNS = [...Object.values<Endpoint>(ENDPOINTS), MCP_ENDPOINT].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
