import { describeProblem } from './problem.js';
import { SECURITY_HEADERS } from '../security/headers.js';
import { readHeader } from './read-request.js';
import type { RequestContext } from './read-request.js';

/** A response as data: written directly to a connection, or converted by {@link toResponse}. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Record<string, string | number>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** Converts a response for hono. */
export function toResponse({ status, headers, body }: PlainResponse): Response {
  return new Response(body, { status, headers: headers as Record<string, string> });
}

/**
 * A response's headers, including placeholders for the ones set later: adding a field to a copy takes ten times as long
 * as replacing it.
 */
const JSON_HEADERS = { ...SECURITY_HEADERS, 'content-type': 'application/json', 'x-request-id': '' };

/** Creates a JSON response with the common headers. */
export function createJsonResponse(value: unknown, status: number, requestId: string): Response {
  return toResponse(createPlainJson(JSON.stringify(value), status, requestId));
}

/**
 * A result that is already JSON. It is not a `Response`, because completing a response reads its headers, which costs
 * as much as parsing short input.
 */
export class JsonText {
  readonly json: string | Uint8Array<ArrayBuffer>;

  constructor(json: string | Uint8Array<ArrayBuffer>) {
    this.json = json;
  }
}

/** Creates a response from a value that is already JSON. */
export function createPlainJson(body: PlainResponse['body'], status: number, requestId: string): PlainResponse {
  return { status, headers: { ...JSON_HEADERS, 'x-request-id': requestId }, body };
}

/** Creates the problem response for anything thrown. */
export function createProblemResponse(error: unknown, requestId: string): Response {
  return toResponse(createPlainProblem(error, requestId));
}

/** Creates the problem response for anything thrown, as data. */
export function createPlainProblem(error: unknown, requestId: string): PlainResponse {
  const problem = describeProblem(error, requestId);
  const headers = {
    ...SECURITY_HEADERS,
    ...ADVICE_HEADERS[problem.status],
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
  };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

/** Headers that advise the client on what to do next, by status. */
const ADVICE_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer realm="sluice"' },
  429: { 'retry-after': '60' },
  503: { 'retry-after': '5' },
};

/** Adds the common headers to a handler's response; headers that the handler set stay unchanged. */
export function completeResponse(response: Response, requestId: string): Response {
  // The handler has already written to the connection, headers included.
  if (response.headers.has('x-hono-already-sent')) return response;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set('x-request-id', requestId);
  return response;
}

const ALLOWED_HEADERS = 'authorization, content-type, last-event-id, range, mcp-protocol-version, mcp-method, mcp-name';
const EXPOSED_HEADERS = 'x-request-id, content-range, accept-ranges, x-total-bytes, retry-after';

/**
 * Allows pages of the configured origins to read a response. Cookies are never allowed: such pages must send a token.
 */
export function allowOrigin(context: RequestContext, response: Response, origins: readonly string[]): Response {
  if (origins.length === 0) return response;
  response.headers.append('vary', 'origin');
  const origin = readHeader(context, 'origin');
  if (origin === undefined || !origins.includes(origin)) return response;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-expose-headers', EXPOSED_HEADERS);
  response.headers.set('cross-origin-resource-policy', 'cross-origin');
  return response;
}

/** Creates the response to a CORS preflight request; without allowed origins it grants nothing. */
export function createPreflightResponse(
  context: RequestContext,
  methods: readonly string[],
  origins: readonly string[],
): Response {
  const headers = { ...SECURITY_HEADERS, allow: [...methods, 'OPTIONS'].join(', ') };
  const response = new Response(null, { status: 204, headers });
  const origin = readHeader(context, 'origin');
  if (origin !== undefined && origins.includes(origin)) {
    response.headers.set('access-control-allow-methods', methods.join(', '));
    response.headers.set('access-control-allow-headers', ALLOWED_HEADERS);
    response.headers.set('access-control-max-age', '600');
  }
  return allowOrigin(context, response, origins);
}
