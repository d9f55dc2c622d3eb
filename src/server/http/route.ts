import type { Context, Hono } from 'hono';
import type { Endpoint } from '../api/index.js';
import { createJsonResponse, createProblemResponse, createReadResponse, completeResponse } from './responses.js';
import { type AdmittedRequest, type Gate, type BodyAdmission, within } from './admission.js';
import { readIncomingMessage, readJson, readOutgoingMessage } from './read-request.js';
import { RequestError } from './problem.js';
import {
  createIssuesError,
  createRequestChecks,
  type CheckedRequest,
  type Handler,
  type ListFurtherIssues,
  type RequestChecks,
} from './request-checks.js';
import { createRateLimit } from '../security/rate-limit.js';
import type { Caller } from '../security/tokens.js';
import type { RouteName, ServerContext } from '../server-context.js';
import { createClient } from '../client/index.js';
import { getErrorCode } from '../../base/index.js';

interface Route {
  readonly name: RouteName;
  readonly endpoint: Endpoint;
  readonly handler: Handler<Endpoint>;
  /** Limits the number of concurrent requests; an endpoint without a gate has no limit. */
  readonly gate: Gate | undefined;
  /** Limits the number of bytes received concurrently. */
  readonly bodies: BodyAdmission;
  /** How long a JSON response may take. */
  readonly requestMs: number;
  /** Handles bodies of more than `above` bytes without parsing them here. */
  readonly largeBody?: LargeBody | undefined;
  readonly listFurtherIssues?: ListFurtherIssues | undefined;
}

export interface LargeBody {
  readonly above: number;
  answer(body: Uint8Array, caller: string): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Creates the pipeline that every request passes through: admission, validation, the handler within its time limit, the
 * response, metrics and log. Its promises never reject.
 */
export function createRoute(server: ServerContext, route: Route): (context: Context) => Promise<Response> {
  const { name, endpoint, handler, gate, bodies, requestMs, largeBody, listFurtherIssues } = route;
  const { guard, newRequestId, clock, logger, meter } = server;
  // Compiled on first use: the server starts sooner, and most callers use few endpoints.
  let checks: RequestChecks | undefined;
  const isJson = endpoint.response.media === 'application/json';
  const refusals = createRateLimit({ perMinute: LOGGED_REFUSALS, clock });
  /** The number of refused requests since the last logged one that were not logged. */
  let omitted = 0;

  async function handle(
    context: Context,
    { caller, requestId, releaseAtEnd, keepUntilSent }: AdmittedRequest,
  ): Promise<Response> {
    const query = context.req.query();
    checks ??= createRequestChecks(endpoint);
    checks.query(query);
    const incomingBody =
      endpoint.body === undefined ? undefined : bodies.receive(context, endpoint, { caller, releaseAtEnd });
    const bytes = incomingBody === undefined ? undefined : await incomingBody.bytes;
    incomingBody?.releaseSlot();
    // A slot is taken only once the body is complete, so slow senders do not block slots.
    if (gate !== undefined) releaseAtEnd(gate.enter(caller.name));
    if (largeBody !== undefined && bytes !== undefined && bytes.length > largeBody.above) {
      // The received bytes count against the limit until the response, which can be just as large, has been sent.
      keepUntilSent();
      return createJsonResponse(await largeBody.answer(bytes, caller.name), endpoint.response.status, requestId);
    }
    const body = bytes === undefined ? undefined : readJson(bytes);
    try {
      checks.body(body);
    } catch (error) {
      if (listFurtherIssues === undefined || !(error instanceof RequestError)) throw error;
      const { issues = [] } = error.extra;
      throw createIssuesError('INVALID_BODY', [...issues, ...(await listFurtherIssues(body, issues))]);
    }
    // The path has matched, so no parameter is missing; query and body were validated above.
    const params = context.req.param() as never;
    const result: unknown = await handler({
      params,
      query,
      body: body as never,
      bytes: bytes ?? NO_BYTES,
      caller,
      requestId,
      context,
    });
    if (result instanceof Response) return completeResponse(result, requestId);
    const json = typeof result === 'string' || result instanceof Uint8Array ? result : JSON.stringify(result);
    const { status } = endpoint.response;
    if (endpoint.method !== 'GET') return createJsonResponse(json as string, status, requestId);
    return createReadResponse(json as string, { context, status, requestId });
  }

  return async (context) => {
    const startedAt = clock();
    const requestId = newRequestId();
    let caller: Caller | undefined;
    const releaseFunctions: (() => void)[] = [];
    let isReleased = false;
    let response: Response;
    let failure: unknown;
    const releaseAtEnd = (release: (() => void) | undefined): void => {
      if (release === undefined)
        throw new RequestError('SERVER_BUSY', 'The server is handling too many requests. Try again in a few seconds.');
      if (isReleased) release();
      else releaseFunctions.push(release);
    };
    let isLongResponse = !isJson;
    const keepUntilSent = (): void => {
      isLongResponse = true;
    };
    try {
      caller = guard.admit(context, endpoint);
      const work = handle(context, { caller, requestId, releaseAtEnd, keepUntilSent });
      response = await (isJson ? within(requestMs, work) : work);
    } catch (error) {
      failure = error;
      // The rest of a body that did not arrive in time is not read.
      const isCutOff = getErrorCode(error) === 'REQUEST_TIMED_OUT' && readIncomingMessage(context)?.complete === false;
      response = createProblemResponse(error, requestId, isCutOff ? { connection: 'close' } : {});
    }
    releaseWhenSent(context, isLongResponse, () => {
      isReleased = true;
      for (const release of releaseFunctions) release();
    });
    const { status } = response;
    const ms = clock() - startedAt;
    meter.countRequest({ endpoint: name, status, ms, traceparent: context.req.header('traceparent') });
    // Anyone can send requests that are refused before sign-in, so they must not fill the log.
    const isSignedIn = caller !== undefined && endpoint.scope !== 'none';
    if (isSignedIn || status < 400 || refusals.take(name)) {
      const more = omitted === 0 ? {} : { omitted };
      log({ request_id: requestId, endpoint: name, caller: caller?.name ?? null, status, ms, ...more }, failure);
      omitted = 0;
    } else omitted += 1;
    return response;
  };

  /** Logs a request. Bodies, queries and headers are not logged, because they can contain secrets. */
  function log(fields: { readonly status: number } & Readonly<Record<string, unknown>>, error: unknown): void {
    // The server's own refusals, such as a full queue, have no cause worth a stack trace, and anyone can provoke them.
    if (fields.status >= 500 && !(error instanceof RequestError && error.cause === undefined))
      logger.error('request failed', { ...fields, error });
    else if (fields.status >= 400) logger.info('request refused', { ...fields, error: getErrorCode(error) });
    else logger.debug('request handled', fields);
  }
}

const NO_BYTES = new Uint8Array();

/** Releases a request's slots: for a long response once it has been sent, otherwise immediately. */
function releaseWhenSent(context: Context, isLongResponse: boolean, release: () => void): void {
  const outgoing = readOutgoingMessage(context);
  // If the connection closed while the response was being prepared, it does not emit 'close' again.
  if (!isLongResponse || outgoing === undefined || outgoing.closed) release();
  else outgoing.once('close', release);
}

/** The maximum number of logged requests per minute and endpoint that were refused before their caller was known. */
const LOGGED_REFUSALS = 60;

/** The endpoint of the Model Context Protocol, which defines its messages, so it is not in the endpoint table. */
export const MCP_ENDPOINT = {
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  summary: 'The Model Context Protocol over its streamable HTTP transport.',
  body: { anyOf: [{ type: 'object' }, { type: 'array' }] },
  response: { status: 200, media: 'application/json' },
  // Required by the protocol: a page that tricks a browser into a request might have obtained a token.
  checksOrigin: true,
} as const satisfies Endpoint;

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
    // The first signal is aborted if the client disconnects.
    const signal = AbortSignal.any([context.req.raw.signal, shutdownSignal, AbortSignal.timeout(REQUEST_MS)]);
    return handleMcpRequest(
      {
        client: createLocalClient(app, context),
        // The token that a server creates for its user is meant for humans. Agents need a configured token to decide.
        mayDecide: guard.hasConfiguredTokens() && caller.scopes.has('decide'),
        logger,
      },
      { headers: pickHeaders(context, PROTOCOL_HEADERS), body, signal },
    );
  }

  return createRoute(server, { name: 'mcp', endpoint: MCP_ENDPOINT, handler, gate, bodies, requestMs: REQUEST_MS });
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
