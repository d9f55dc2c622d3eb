import { Hono } from 'hono';
import type { Context } from 'hono';
import type { Endpoint } from '../api/endpoint.js';
import { ENDPOINTS } from '../api/endpoints.js';
import { problemOf } from './problem.js';
import { RequestError } from './request-error.js';
import { createRequestChecks } from './route.js';
import type { Handler, Handlers } from './route.js';
import type { Caller } from './security/tokens.js';

/** What every request goes through, whatever it asks. */
export interface AppPorts {
  readonly handlers: Handlers;
  /** Who asks; throws if they may not be here at all. */
  readonly authenticate: (context: Context) => Caller | undefined;
  readonly newRequestId: () => string;
  readonly maxBodyBytes: number;
  /** Told of what is our own fault. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** The server as a function from request to response; it needs no port to be tried. */
export function createApp(ports: AppPorts): Hono {
  const app = new Hono();
  for (const [name, definition] of Object.entries<Endpoint>(ENDPOINTS)) {
    const handler = ports.handlers[name as keyof Handlers] as Handler<Endpoint>;
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(definition.method, path, createRoute(definition, handler, ports));
  }
  app.notFound((context) =>
    answerProblem(new RequestError('NO_SUCH_PATH', `There is nothing at ${context.req.path}.`), ports),
  );
  app.onError((error) => answerProblem(error, ports));
  return app;
}

function createRoute(definition: Endpoint, handler: Handler<Endpoint>, ports: AppPorts) {
  const checks = createRequestChecks(definition);
  const { status } = definition.answer;
  return async (context: Context): Promise<Response> => {
    const requestId = ports.newRequestId();
    try {
      const caller = permit(definition, ports.authenticate(context));
      const query = context.req.query();
      checks.query(query);
      const body = definition.body === undefined ? undefined : await readBody(context, ports.maxBodyBytes);
      checks.body(body);
      const params = context.req.param() as Record<string, string>;
      const answer: unknown = await handler({
        params: params as never,
        query,
        body: body as never,
        caller,
        requestId,
        context,
      });
      if (answer instanceof Response) return answer;
      return Response.json(answer, { status, headers: { 'x-request-id': requestId } });
    } catch (error) {
      return answerProblem(error, ports, requestId);
    }
  };
}

function permit({ scope }: Endpoint, caller: Caller | undefined): Caller {
  if (caller?.scopes.has(scope) === true) return caller;
  if (scope === 'none') return NOBODY;
  if (caller === undefined) {
    throw new RequestError('TOKEN_REFUSED', 'Send a token of the configuration as Authorization: Bearer.');
  }
  throw new RequestError('SCOPE_MISSING', `The token ${caller.name} lacks the scope ${scope}.`);
}

const NOBODY: Caller = { name: 'anonymous', scopes: new Set(['none']) };

async function readBody(context: Context, maxBytes: number): Promise<unknown> {
  const type = context.req.header('content-type') ?? '';
  // Also keeps other sites out: a page cannot send JSON elsewhere without asking first.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new RequestError('NOT_JSON', 'Send the body as application/json.');
  }
  const text = await readBounded(context, maxBytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RequestError('INVALID_BODY', `The body is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

async function readBounded(context: Context, maxBytes: number): Promise<string> {
  const length = Number(context.req.header('content-length') ?? Number.NaN);
  if (length > maxBytes) throw tooLarge(maxBytes);
  // With a length the platform reads no more than that; without one it is counted here.
  if (length >= 0) return context.req.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('BODY_TOO_LARGE', `A body has at most ${maxBytes} bytes here.`);
}

function answerProblem(error: unknown, ports: AppPorts, requestId = ports.newRequestId()): Response {
  const problem = problemOf(error, requestId);
  if (problem.status >= 500) ports.onFault(error, requestId);
  return Response.json(problem, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'x-request-id': requestId },
  });
}
