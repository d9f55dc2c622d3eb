import type { Context } from 'hono';
import { describeProblem } from './problem.js';
import { SECURITY_HEADERS } from '../security/headers.js';
import { readHeader } from './read-request.js';

const JSON_HEADERS = { ...SECURITY_HEADERS, 'content-type': 'application/json' };

/** JSON with the headers of every response. */
export function answerJson(value: unknown, status: number, requestId: string): Response {
  return answerJsonText(JSON.stringify(value), status, requestId);
}

/**
 * An answer that is already JSON. Not a `Response`: reading the headers of one, as completing it does, costs as much as
 * parsing a short text.
 */
export class JsonText {
  readonly json: string | Uint8Array<ArrayBuffer>;

  constructor(json: string | Uint8Array<ArrayBuffer>) {
    this.json = json;
  }
}

/** The same for a value that is already JSON. */
export function answerJsonText(json: string | Uint8Array<ArrayBuffer>, status: number, requestId: string): Response {
  return new Response(json, { status, headers: { ...JSON_HEADERS, 'x-request-id': requestId } });
}

/** A problem response for anything thrown. */
export function answerProblem(error: unknown, requestId: string): Response {
  const problem = describeProblem(error, requestId);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...SECURITY_HEADERS,
      ...ADVICE[problem.status],
      'content-type': 'application/problem+json',
      'x-request-id': requestId,
    },
  });
}

/** Headers that advise the client what to do next, by status. */
const ADVICE: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer realm="sluice"' },
  429: { 'retry-after': '60' },
  503: { 'retry-after': '5' },
};

/** Adds the headers of every response to one that a handler made; headers it has set are kept. */
export function completeAnswer(answer: Response, requestId: string): Response {
  // The handler has already written to the connection, headers included.
  if (answer.headers.has('x-hono-already-sent')) return answer;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!answer.headers.has(name)) answer.headers.set(name, value);
  }
  answer.headers.set('x-request-id', requestId);
  return answer;
}

const ALLOWED_HEADERS = 'authorization, content-type, last-event-id, range, mcp-protocol-version, mcp-method, mcp-name';
const EXPOSED_HEADERS = 'x-request-id, content-range, accept-ranges, x-total-bytes, retry-after';

/**
 * Lets the pages of configured origins read a response. Cookies are never allowed: such pages send a token.
 */
export function allowOrigin(context: Context, answer: Response, origins: readonly string[]): Response {
  if (origins.length === 0) return answer;
  answer.headers.append('vary', 'origin');
  const origin = readHeader(context, 'origin');
  if (origin === undefined || !origins.includes(origin)) return answer;
  answer.headers.set('access-control-allow-origin', origin);
  answer.headers.set('access-control-expose-headers', EXPOSED_HEADERS);
  answer.headers.set('cross-origin-resource-policy', 'cross-origin');
  return answer;
}

/** The response to a CORS preflight request; without allowed origins it grants nothing. */
export function answerPreflight(context: Context, methods: readonly string[], origins: readonly string[]): Response {
  const headers = { ...SECURITY_HEADERS, allow: [...methods, 'OPTIONS'].join(', ') };
  const answer = new Response(null, { status: 204, headers });
  const origin = readHeader(context, 'origin');
  if (origin !== undefined && origins.includes(origin)) {
    answer.headers.set('access-control-allow-methods', methods.join(', '));
    answer.headers.set('access-control-allow-headers', ALLOWED_HEADERS);
    answer.headers.set('access-control-max-age', '600');
  }
  return allowOrigin(context, answer, origins);
}
