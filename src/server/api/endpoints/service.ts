import { object, text } from '../../../base/index.js';
import { defineEndpoints, json } from '../endpoint.js';
import { sessionSchema } from '../shapes/session.js';

export const serviceEndpoints = defineEndpoints({
  openSession: {
    method: 'POST',
    path: '/v1/session',
    scope: 'none',
    summary: 'Exchanges a token for a cookie, for pages and EventSource.',
    body: object({ token: text }),
    response: json(sessionSchema),
    problems: ['TOKEN_REFUSED'],
  },
  getSession: {
    method: 'GET',
    path: '/v1/session',
    scope: 'none',
    summary: 'Returns the caller, its scopes, and whether tokens are required.',
    response: json(sessionSchema),
  },
  closeSession: {
    method: 'POST',
    path: '/v1/session/close',
    scope: 'none',
    summary: 'Deletes the cookie.',
    response: json(object({ status: { const: 'closed' } })),
  },
  health: {
    method: 'GET',
    path: '/healthz',
    scope: 'none',
    summary: 'Succeeds if the process is alive.',
    response: json(object({ status: { const: 'ok' } })),
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    scope: 'none',
    summary: 'Succeeds if the store responds and new work is accepted.',
    response: json(object({ status: { const: 'ready' } })),
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    scope: 'read',
    summary: 'Returns metrics in the Prometheus text format.',
    response: { status: 200, media: 'text/plain' },
  },
});
