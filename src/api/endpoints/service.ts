import { object, text } from '../../base/index.js';
import { endpoint, json } from '../endpoint.js';
import { sessionSchema } from '../shapes/session.js';

export const openSession = endpoint({
  method: 'POST',
  path: '/v1/session',
  scope: 'none',
  summary: 'Exchanges a token for a cookie, for pages and EventSource.',
  body: object({ token: text }),
  answer: json(sessionSchema),
  problems: ['TOKEN_REFUSED'],
});

export const getSession = endpoint({
  method: 'GET',
  path: '/v1/session',
  scope: 'none',
  summary: 'The caller, its scopes, and whether tokens are required.',
  answer: json(sessionSchema),
});

export const closeSession = endpoint({
  method: 'POST',
  path: '/v1/session/close',
  scope: 'none',
  summary: 'Deletes the cookie.',
  answer: json(object({ status: { const: 'closed' } })),
});

export const health = endpoint({
  method: 'GET',
  path: '/healthz',
  scope: 'none',
  summary: 'The process is alive.',
  answer: json(object({ status: { const: 'ok' } })),
});

export const ready = endpoint({
  method: 'GET',
  path: '/readyz',
  scope: 'none',
  summary: 'The store responds and new work is accepted.',
  answer: json(object({ status: { const: 'ready' } })),
});

export const metrics = endpoint({
  method: 'GET',
  path: '/metrics',
  scope: 'read',
  summary: 'Metrics for Prometheus.',
  answer: { status: 200, media: 'text/plain' },
});
