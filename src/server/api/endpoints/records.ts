import { count, name, object, oneOf, text } from '../../../base/index.js';
import {
  budgetsSchema,
  decisionAction,
  executionSchema,
  outboxMessageSchema,
  outboxState,
  sinkStateSchema,
  workerSchema,
} from '../../../store/records/index.js';
import { defineEndpoints, json } from '../endpoint.js';
import { definePage, pageQuery, timeParameter } from '../shapes/lists.js';
import { statisticsSchema, sessionSchema } from '../shapes/service.js';

const executionQuery = {
  issue_ref: name,
  run_id: name,
  worker: name,
  decision: decisionAction,
  since: timeParameter,
  until: timeParameter,
} as const;

const redeliveredSchema = object({
  /** At most 1,000 per request. */
  redelivered: count,
});

export const recordEndpoints = defineEndpoints({
  listOutbox: {
    method: 'GET',
    path: '/v1/outbox',
    scope: 'read',
    summary: 'Lists comments and their delivery, newest first.',
    query: { ...pageQuery, state: outboxState, issue_ref: name },
    response: json(definePage(outboxMessageSchema)),
    problems: ['INVALID_CURSOR'],
  },
  redeliverComment: {
    method: 'POST',
    path: '/v1/outbox/{id}/redeliver',
    scope: 'decide',
    summary: 'Redelivers a comment whose delivery failed or is waiting for a retry.',
    response: json(redeliveredSchema),
    problems: ['COMMENT_NOT_FOUND'],
  },
  redeliverSink: {
    method: 'POST',
    path: '/v1/outbox/redeliver',
    scope: 'decide',
    summary: "Redelivers a sink's comments whose delivery failed or is waiting for a retry, oldest first.",
    body: object({ sink: name }),
    response: json(redeliveredSchema),
  },
  listSinks: {
    method: 'GET',
    path: '/v1/sinks',
    scope: 'read',
    summary: 'Lists sinks with undelivered comments.',
    response: json(definePage(sinkStateSchema)),
  },
  listExecutions: {
    method: 'GET',
    path: '/v1/executions',
    scope: 'read',
    summary: 'Lists executions and their decisions, newest first.',
    query: { ...pageQuery, ...executionQuery },
    response: json(definePage(executionSchema)),
    problems: ['INVALID_CURSOR'],
  },
  exportExecutions: {
    method: 'GET',
    path: '/v1/executions/export',
    scope: 'read',
    summary: 'Exports executions as CSV or NDJSON, with the filters of the list.',
    query: { ...executionQuery, format: oneOf(['csv', 'ndjson']) },
    response: { status: 200, media: 'text/csv', alternative: 'application/x-ndjson' },
  },
  listWorkers: {
    method: 'GET',
    path: '/v1/workers',
    scope: 'read',
    summary: 'Lists workers that reported within the last day, most recent first.',
    response: json(definePage(workerSchema)),
  },
  listBudgets: {
    method: 'GET',
    path: '/v1/budgets',
    scope: 'read',
    summary:
      'Returns the usage of the configured budgets (for issues, the ten that used the most tokens) and the runs that wait for a budget.',
    response: json(budgetsSchema),
  },
  readStatistics: {
    method: 'GET',
    path: '/v1/statistics',
    scope: 'read',
    summary: 'Returns statistics over time: outcomes, latency and drift of runs, open inbox items.',
    query: {
      since: timeParameter,
      until: timeParameter,
      step: {
        type: 'integer',
        minimum: 60,
        maximum: 31_536_000,
        description:
          'Length of a step in seconds, rounded up to whole minutes, hours above one hour, days above one day. By default the period is divided into a few dozen steps.',
      },
    },
    response: json(statisticsSchema),
  },
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
