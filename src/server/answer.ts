import { problemOf } from './problem.js';
import { SECURITY_HEADERS } from './security/headers.js';

const JSON_HEADERS = { ...SECURITY_HEADERS, 'content-type': 'application/json' };

/** JSON with the headers of every answer. */
export function answerJson(value: unknown, status: number, requestId: string): Response {
  return new Response(JSON.stringify(value), { status, headers: { ...JSON_HEADERS, 'x-request-id': requestId } });
}

/** RFC 9457 details of whatever was thrown. */
export function answerProblem(error: unknown, requestId: string): Response {
  const problem = problemOf(error, requestId);
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

/** Headers with which a status tells a client what to do next. */
const ADVICE: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer realm="sluice"' },
  429: { 'retry-after': '60' },
  503: { 'retry-after': '5' },
};

/** Adds what every answer carries to one a handler has made itself; what it says there counts. */
export function completeAnswer(answer: Response, requestId: string): Response {
  // The handler has written to the connection itself, headers included.
  if (answer.headers.has('x-hono-already-sent')) return answer;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!answer.headers.has(name)) answer.headers.set(name, value);
  }
  answer.headers.set('x-request-id', requestId);
  return answer;
}
