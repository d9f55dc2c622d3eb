import { Hono } from 'hono';
import type { Context } from 'hono';
import { ENDPOINTS } from '../api/index.js';
import type { Endpoint, EndpointName } from '../api/index.js';
import { answerProblem } from './answer.js';
import { createHandlers } from './create-handlers.js';
import { createRoute } from './create-route.js';
import { createDeadlines } from './deadlines.js';
import { createGate } from './gate.js';
import { answerStray } from './answer-stray.js';
import { addPages } from './pages/add-pages.js';
import type { Handler } from './route.js';
import type { ServerContext } from './server-context.js';

/** The server as a function from request to response; it needs no port to be tried. */
export function createApp(server: ServerContext): Hono {
  const app = new Hono();
  const { limits } = server.settings;
  const requests = createGate(limits.requestsAtOnce);
  const streams = createGate(limits.streamsAtOnce);
  const deadlines = createDeadlines(limits.requestMs);
  const handlers = createHandlers(server);

  for (const [key, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const name = key as EndpointName;
    const handler = handlers[name] as Handler<Endpoint>;
    const gate = endpoint.answer.media === 'text/event-stream' ? streams : requests;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(endpoint.method, path, createRoute(server, { name, endpoint, handler, gate, deadlines }));
  }
  addPages(app, server);

  app.notFound((context) => answerStray(context, server));
  app.onError((error: Error, _context: Context) => {
    const requestId = server.newRequestId();
    server.logger.error('request failed', { request_id: requestId, error });
    return answerProblem(error, requestId);
  });
  return app;
}
