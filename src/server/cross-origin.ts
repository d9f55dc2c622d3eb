import type { Context } from 'hono';
import { headerOf } from './header-of.js';
import { SECURITY_HEADERS } from './security/headers.js';

const ALLOWED_HEADERS = 'authorization, content-type, last-event-id, range';
const EXPOSED_HEADERS = 'x-request-id, content-range, accept-ranges, x-total-bytes, retry-after';

/**
 * Lets the pages of configured sites read an answer. Cookies are never allowed along: such pages send a token.
 */
export function allowOrigin(context: Context, answer: Response, origins: readonly string[]): Response {
  if (origins.length === 0) return answer;
  answer.headers.append('vary', 'origin');
  const origin = headerOf(context, 'origin');
  if (origin === undefined || !origins.includes(origin)) return answer;
  answer.headers.set('access-control-allow-origin', origin);
  answer.headers.set('access-control-expose-headers', EXPOSED_HEADERS);
  answer.headers.set('cross-origin-resource-policy', 'cross-origin');
  return answer;
}

/** The answer to a browser that asks beforehand; without allowed origins it grants nothing. */
export function answerPreflight(context: Context, methods: readonly string[], origins: readonly string[]): Response {
  const headers = { ...SECURITY_HEADERS, allow: [...methods, 'OPTIONS'].join(', ') };
  const answer = new Response(null, { status: 204, headers });
  const origin = headerOf(context, 'origin');
  if (origin !== undefined && origins.includes(origin)) {
    answer.headers.set('access-control-allow-methods', methods.join(', '));
    answer.headers.set('access-control-allow-headers', ALLOWED_HEADERS);
    answer.headers.set('access-control-max-age', '600');
  }
  return allowOrigin(context, answer, origins);
}
