import { count, name, object, oneOf } from '../../base/index.js';
import {
  budgetsSchema,
  decisionAction,
  executionSchema,
  outboxMessageSchema,
  outboxState,
  sinkStateSchema,
  workerSchema,
} from '../../records/index.js';
import { endpoint, json } from '../endpoint.js';
import { listOf, pageQuery } from '../shapes/lists.js';
import { statisticsSchema } from '../shapes/statistics.js';
import { moment } from './parameters.js';

const executionQuery = {
  issue_ref: name,
  run_id: name,
  worker: name,
  decision: decisionAction,
  since: moment,
  until: moment,
} as const;

const redeliveredSchema = object({
  /** At most 1,000 a request. */
  redelivered: count,
});

export const listOutbox = endpoint({
  method: 'GET',
  path: '/v1/outbox',
  scope: 'read',
  summary: 'Lists comments and their delivery, newest first.',
  query: { ...pageQuery, state: outboxState, issue_ref: name },
  answer: json(listOf(outboxMessageSchema)),
  problems: ['INVALID_CURSOR'],
});

export const redeliverComment = endpoint({
  method: 'POST',
  path: '/v1/outbox/{id}/redeliver',
  scope: 'decide',
  summary: 'Redelivers a comment that failed or waits for its next attempt.',
  answer: json(redeliveredSchema),
  problems: ['COMMENT_NOT_FOUND'],
});

export const redeliverSink = endpoint({
  method: 'POST',
  path: '/v1/outbox/redeliver',
  scope: 'decide',
  summary: 'Redelivers all comments of a sink that failed or wait for their next attempt, oldest first.',
  body: object({ sink: name }),
  answer: json(redeliveredSchema),
});

export const listSinks = endpoint({
  method: 'GET',
  path: '/v1/sinks',
  scope: 'read',
  summary: 'Lists sinks with comments that are not delivered.',
  answer: json(listOf(sinkStateSchema)),
});

export const listExecutions = endpoint({
  method: 'GET',
  path: '/v1/executions',
  scope: 'read',
  summary: 'Lists executions and their decisions, newest first.',
  query: { ...pageQuery, ...executionQuery },
  answer: json(listOf(executionSchema)),
  problems: ['INVALID_CURSOR'],
});

export const exportExecutions = endpoint({
  method: 'GET',
  path: '/v1/executions/export',
  scope: 'read',
  summary: 'Exports executions as CSV or NDJSON, with the filters of the list.',
  query: { ...executionQuery, format: oneOf(['csv', 'ndjson']) },
  answer: { status: 200, media: 'text/csv', alternative: 'application/x-ndjson' },
});

export const listWorkers = endpoint({
  method: 'GET',
  path: '/v1/workers',
  scope: 'read',
  summary: 'Workers that reported within the last day, the latest first.',
  answer: json(listOf(workerSchema)),
});

export const listBudgets = endpoint({
  method: 'GET',
  path: '/v1/budgets',
  scope: 'read',
  summary: 'Usage of the configured budgets, and runs that wait for one; at most ten issues.',
  answer: json(budgetsSchema),
});

export const readStatistics = endpoint({
  method: 'GET',
  path: '/v1/statistics',
  scope: 'read',
  summary: 'Statistics over time: outcomes, latency and drift of runs, open inbox items.',
  query: {
    since: moment,
    until: moment,
    step: {
      type: 'integer',
      minimum: 60,
      maximum: 31_536_000,
      description:
        'Seconds, rounded up to whole minutes, above an hour to whole hours, above a day to whole days; by default the span is divided into a few dozen steps.',
    },
  },
  answer: json(statisticsSchema),
});
