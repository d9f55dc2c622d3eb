import { runEndpoints } from './endpoints/runs.js';
import { workerEndpoints } from './endpoints/worker.js';
import { flag, name, object, oneOf, text, count } from '../../base/index.js';
import {
  WORK_REQUEST_SCHEMA,
  changeSchema,
  raceSchema,
  issueSchema,
  issueState,
  budgetsSchema,
  decisionAction,
  executionSchema,
  outboxMessageSchema,
  outboxState,
  sinkStateSchema,
  scheduleSchema,
  scheduleTickSchema,
  workerSchema,
} from '../../store/records/index.js';
import { created, get, json, post, definePage, pageQuery, search, timeParameter } from './endpoint.js';
import {
  issueDetailSchema,
  submittedOrderSchema,
  inboxResponseSchema,
  commentPreviewSchema,
  resolveRequestSchema,
  waitingSchema,
} from './shapes/order.js';
import { settingsSchema, statisticsSchema, sessionSchema } from './shapes/service.js';

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

const recordEndpoints = {
  listOutbox: get('/v1/outbox', 'read', {
    summary: 'Lists comments and their delivery, newest first.',
    query: { ...pageQuery, state: outboxState, issue_ref: name },
    response: json(definePage(outboxMessageSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  redeliverComment: post('/v1/outbox/{id}/redeliver', 'decide', {
    summary: 'Redelivers a comment whose delivery failed or is waiting for a retry.',
    response: json(redeliveredSchema),
    problems: ['COMMENT_NOT_FOUND'],
  }),
  redeliverSink: post('/v1/outbox/redeliver', 'decide', {
    summary: "Redelivers a sink's comments whose delivery failed or is waiting for a retry, oldest first.",
    body: object({ sink: name }),
    response: json(redeliveredSchema),
  }),
  listSinks: get('/v1/sinks', 'read', {
    summary: 'Lists sinks with undelivered comments.',
    response: json(definePage(sinkStateSchema)),
  }),
  listExecutions: get('/v1/executions', 'read', {
    summary: 'Lists executions and their decisions, newest first.',
    query: { ...pageQuery, ...executionQuery },
    response: json(definePage(executionSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  exportExecutions: get('/v1/executions/export', 'read', {
    summary: 'Exports executions as CSV or NDJSON, with the filters of the list.',
    query: { ...executionQuery, format: oneOf(['csv', 'ndjson']) },
    response: { status: 200, media: 'text/csv', alternative: 'application/x-ndjson' },
  }),
  listWorkers: get('/v1/workers', 'read', {
    summary: 'Lists workers that reported within the last day, most recent first.',
    response: json(definePage(workerSchema)),
  }),
  listSchedules: get('/v1/schedules', 'read', {
    summary: 'Lists the configured schedules: when each is due next, who paused it, and its last tick.',
    response: json(definePage(scheduleSchema)),
  }),
  pauseSchedule: post('/v1/schedules/{name}/pause', 'decide', {
    summary: 'Pauses a schedule on all servers, with the reason; the name of the token is recorded.',
    body: object({ why: name }),
    response: json(scheduleSchema),
    problems: ['NO_SUCH_PATH'],
  }),
  resumeSchedule: post('/v1/schedules/{name}/resume', 'decide', {
    summary: 'Ends the pause of a schedule.',
    response: json(scheduleSchema),
    problems: ['NO_SUCH_PATH'],
  }),
  runSchedule: post('/v1/schedules/{name}/run', 'run', {
    summary: "Submits a schedule's order now, even while it is paused, and returns the tick: what it did, and why.",
    response: json(scheduleTickSchema),
    problems: ['NO_SUCH_PATH'],
  }),
  listTicks: get('/v1/schedules/ticks', 'read', {
    summary: 'Lists the last ticks of all schedules, newest first: what each did, and why.',
    response: json(definePage(scheduleTickSchema)),
  }),
  listBudgets: get('/v1/budgets', 'read', {
    summary:
      'Returns the usage of the configured budgets (for issues and unlisted tokens, the ten that used the most) and the runs that wait for a budget.',
    response: json(budgetsSchema),
  }),
  readSettings: get('/v1/settings', 'decide', {
    summary:
      'Returns settings that explain decisions: the approval rules, the sinks, and the tokens without their values.',
    response: json(settingsSchema),
  }),
  readStatistics: get('/v1/statistics', 'read', {
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
  }),
  openSession: post('/v1/session', 'none', {
    summary: 'Exchanges a token for a cookie, for pages and EventSource.',
    body: object({ token: text }),
    response: json(sessionSchema),
    problems: ['TOKEN_REFUSED'],
  }),
  getSession: get('/v1/session', 'none', {
    summary: 'Returns the caller, its scopes, and whether tokens are required.',
    response: json(sessionSchema),
  }),
  closeSession: post('/v1/session/close', 'none', {
    summary: 'Deletes the cookie.',
    response: json(object({ status: { const: 'closed' } })),
  }),
  health: get('/healthz', 'none', {
    summary: 'Succeeds if the process is alive.',
    response: json(object({ status: { const: 'ok' } })),
  }),
  ready: get('/readyz', 'none', {
    summary: 'Succeeds if the store responds and new work is accepted.',
    response: json(object({ status: { const: 'ready' } })),
  }),
  metrics: get('/metrics', 'read', {
    summary: 'Returns metrics in the Prometheus text format.',
    response: { status: 200, media: 'text/plain' },
  }),
};

const resolutionProblems = [
  'ITEM_NOT_FOUND',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

const orderEndpoints = {
  submitOrder: post('/v1/orders', 'run', {
    summary:
      "Submits an order; its run becomes the issue's active run. A race submits multiple orders and returns the first.",
    body: WORK_REQUEST_SCHEMA,
    response: created(submittedOrderSchema),
    problems: ['INVALID_WORK_REQUEST', 'UNKNOWN_WORKER', 'FOLDER_NOT_ALLOWED', 'REQUEST_ID_REUSED'],
  }),
  listIssues: get('/v1/issues', 'read', {
    summary: 'Lists issues, newest first.',
    query: {
      ...pageQuery,
      state: issueState,
      search: { ...search, description: 'Words in the reference; case-insensitive.' },
    },
    response: json(definePage(issueSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getIssue: get('/v1/issues/{ref}', 'read', {
    summary: 'Returns one issue with its newest orders and open inbox items; the reference is percent-encoded.',
    query: {
      run_id: { ...name, description: 'Only the order with this run id, however old; by default the newest 20.' },
    },
    response: json(issueDetailSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  getIssueDiff: get('/v1/issues/{ref}/diff', 'read', {
    summary:
      "Returns the changes made for one of the issue's orders, file by file, committed or not; the size is limited.",
    query: { run_id: { ...name, description: "The order's run id; by default the active run." } },
    response: json(changeSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  getIssueRace: get('/v1/issues/{ref}/race', 'read', {
    summary: 'Returns the runs of the last race, each with its changes; without a race, the newest order.',
    response: json(raceSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  receiveTrigger: post('/v1/triggers/{name}', 'none', {
    summary:
      'Receives a signed webhook about an issue from GitHub (X-Hub-Signature-256) or GitLab (X-Gitlab-Token), and submits the configured order.',
    body: { type: 'object' },
    // A forge's events contain the complete issue and its repository.
    maxAnonymousBytes: 1024 * 1024,
    response: json(
      object(
        { status: oneOf(['submitted', 'ignored']) },
        { reason: text, issue_ref: name, run_id: name, repeated: flag },
      ),
    ),
    problems: ['SIGNATURE_REFUSED', 'INVALID_WORK_REQUEST', 'UNKNOWN_WORKER'],
  }),
  listWaiting: get('/v1/waiting', 'read', {
    summary:
      "Lists everything that waits for a human: agents' questions and permission requests, failing sinks, results to review. At most 200 of each.",
    response: json(waitingSchema),
  }),
  listInbox: get('/v1/inbox', 'read', {
    summary: 'Lists open inbox items, oldest first, or resolved items, newest first.',
    query: {
      ...pageQuery,
      open: { ...oneOf(['true', 'false']), description: 'true by default: only open items. false: all items.' },
      settled: { ...oneOf(['true']), description: 'Only resolved items, newest first.' },
      issue_ref: name,
    },
    response: json(definePage(inboxResponseSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getInboxItem: get('/v1/inbox/{id}', 'read', {
    summary: 'Returns one inbox item with its evidence.',
    response: json(inboxResponseSchema),
    problems: ['ITEM_NOT_FOUND'],
  }),
  previewResolution: post('/v1/inbox/{id}/preview', 'read', {
    summary: 'Returns the comment that a decision would write.',
    body: resolveRequestSchema,
    response: json(commentPreviewSchema),
    problems: resolutionProblems,
  }),
  resolveItem: post('/v1/inbox/{id}/resolve', 'decide', {
    summary: 'Resolves an inbox item: accept, reject, retry or edit.',
    body: resolveRequestSchema,
    response: json(inboxResponseSchema),
    problems: resolutionProblems,
  }),
};

/** Named, so that the declarations refer to the groups instead of repeating every schema. */
type Endpoints = typeof runEndpoints & typeof orderEndpoints & typeof recordEndpoints & typeof workerEndpoints;

/**
 * All endpoints by name, in the order of the documentation. The server, the client and the OpenAPI document are built
 * from this table; `endpoints/` defines the requests and responses.
 */
export const ENDPOINTS: Endpoints = { ...runEndpoints, ...orderEndpoints, ...recordEndpoints, ...workerEndpoints };

export type EndpointName = keyof Endpoints;
