import { anything, arrayOf, count, flag, name, object, oneOf, orNull, text } from '../base/index.js';
import {
  WORK_REQUEST_SCHEMA,
  budgetsSchema,
  changeSchema,
  raceSchema,
  decisionAction,
  executionSchema,
  issueSchema,
  issueState,
  outboxMessageSchema,
  outboxState,
  repairLevel,
  runOutcome,
  runState,
  sinkStateSchema,
  workerSchema,
  permissionChoiceSchema,
} from '../records/index.js';
import { created, endpoint, json } from './endpoint.js';
import type { Endpoint } from './endpoint.js';
import { runFilesSchema } from './shapes/files.js';
import { listOf, pageQuery } from './shapes/lists.js';
import { offerSchema } from './shapes/offer.js';
import {
  inboxAnswerSchema,
  commentPreviewSchema,
  issueDetailSchema,
  resolveRequestSchema,
  submittedOrderSchema,
} from './shapes/order.js';
import { caseRequestSchema, parseAnswerSchema, parseRequestSchema } from './shapes/parse.js';
import { runRequestSchema, runSchema, runSummarySchema } from './shapes/run.js';
import { sessionSchema } from './shapes/session.js';
import { statisticsSchema } from './shapes/statistics.js';
import { waitingSchema } from './shapes/waiting.js';

const protocol = { ...oneOf(['fcmp', 'rasp', 'agui', 'acp']), description: 'Which events; fcmp by default.' } as const;
const position = { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?$' } as const;

const moment = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z)?$',
  description: 'A date, or a time in UTC: 2026-11-15 or 2026-11-15T08:00:00Z.',
} as const;

const search = { type: 'string', minLength: 1, maxLength: 200 } as const;

const executionQuery = {
  issue_ref: name,
  run_id: name,
  worker: name,
  decision: decisionAction,
  since: moment,
  until: moment,
} as const;

const resolutionProblems = [
  'ITEM_NOT_FOUND',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

/** What both ways to follow a run share. */
const liveEvents = {
  query: {
    protocol: {
      ...oneOf(['fcmp', 'rasp', 'agui', 'acp', 'fcmp,rasp']),
      description:
        'Which events; fcmp by default. With fcmp,rasp both logs come on one connection, each with its own ids, and two end events; resume after both positions: 17,1:17.',
    },
    after: { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?(?:,\\d{1,15}:\\d{1,15})?$' },
  },
  answer: { status: 200, media: 'text/event-stream' },
  problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
} as const;

/** What both previews of a file share. */
const filePreview = {
  answer: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'INVALID_RANGE'],
} as const;

const redeliveredSchema = object({
  /** At most 1,000 a request. */
  redelivered: count,
});

/** All endpoints by name. Server, client, OpenAPI and documentation are generated from this table. */
export const ENDPOINTS = {
  parse: endpoint({
    method: 'POST',
    path: '/v1/parse',
    scope: 'read',
    summary: 'Extracts JSON from a text, repairs its syntax and validates it.',
    body: parseRequestSchema,
    answer: json(parseAnswerSchema),
    problems: ['INVALID_SCHEMA'],
  }),
  startRun: endpoint({
    method: 'POST',
    path: '/v1/runs',
    scope: 'run',
    summary: 'Queues a run.',
    body: runRequestSchema,
    answer: created(object({ id: name })),
    problems: [
      'INVALID_RUN_SPEC',
      'FOLDER_NOT_ALLOWED',
      'COMMAND_NOT_ALLOWED',
      'PERMISSIONS_NOT_ALLOWED',
      'ENVIRONMENT_NOT_ALLOWED',
      'REQUEST_ID_REUSED',
    ],
  }),
  listRuns: endpoint({
    method: 'GET',
    path: '/v1/runs',
    scope: 'read',
    summary: 'Lists runs, newest first; long prompts are shortened, values left out.',
    query: {
      ...pageQuery,
      state: runState,
      engine: name,
      search: {
        ...search,
        description:
          'Words of the id, engine, issue, folder, program, prompt, or the code and message of its error; case-insensitive.',
      },
      outcome: runOutcome,
      repair_level: repairLevel,
      since: moment,
      until: moment,
      ended_since: moment,
      ended_until: moment,
      model: name,
      engine_version: name,
    },
    answer: json(listOf(runSummarySchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}',
    scope: 'read',
    summary: 'One run, with its result once it has ended.',
    answer: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  replyToRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{id}/reply',
    scope: 'run',
    summary:
      'Replies to a waiting run: a text to `user.input.required`, an option to `permission.required`. Returns when the run has received it.',
    body: {
      anyOf: [object({ text: { type: 'string', minLength: 1, maxLength: 1_000_000 } }), permissionChoiceSchema],
    },
    answer: json(object({ status: { const: 'posted' } })),
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_WAITING', 'INVALID_REPLY'],
  }),
  cancelRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    scope: 'run',
    summary: 'Cancels a run.',
    answer: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  followRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: 'Streams the events of a run as server-sent events; the id is the position to resume after.',
    ...liveEvents,
  }),
  followRunByPost: endpoint({
    method: 'POST',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: 'The same by POST, for HTTP agents of AG-UI; the body is ignored.',
    ...liveEvents,
  }),
  readHistory: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/history',
    scope: 'read',
    summary: 'A range of the events of a run, both ends included.',
    query: { protocol, from: position, to: position, limit: { type: 'integer', minimum: 1, maximum: 5000 } },
    answer: json(object({ events: arrayOf(anything), next_from: orNull(name) })),
    problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
  }),
  readRaw: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/raw/{attempt}/{stream}',
    scope: 'read',
    summary: 'The captured bytes of a stream; supports byte ranges.',
    answer: { status: 200, media: 'application/octet-stream' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'INVALID_RANGE'],
  }),
  listRunFiles: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/files',
    scope: 'read',
    summary: 'The files of a run: evidence of what happened, and the files it changed.',
    answer: json(runFilesSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  readEvidence: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/evidence',
    scope: 'read',
    summary: 'A file of evidence as text: its first MiB, or a byte range; x-total-bytes has its size.',
    query: { name },
    ...filePreview,
  }),
  readArtifact: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/artifact',
    scope: 'read',
    summary: 'A file that the run changed, in its current state, in the same way.',
    query: { path: name },
    ...filePreview,
  }),
  exportRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/export',
    scope: 'read',
    summary: 'The run folder as a tar archive.',
    answer: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND'],
  }),
  reportRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/report',
    scope: 'read',
    summary: 'The run as one self-contained HTML file without scripts, to attach to a bug report; bounded.',
    answer: { status: 200, media: 'text/html' },
    problems: ['RUN_NOT_FOUND'],
  }),
  exportRunCase: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/case',
    scope: 'read',
    summary: 'The run as a case of a suite: a tar archive to unpack in the folder of the suite.',
    answer: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_ENDED', 'RAW_NOT_FOUND', 'CASE_TOO_LARGE'],
  }),
  exportTextCase: endpoint({
    method: 'POST',
    path: '/v1/parse/case',
    scope: 'read',
    summary: 'A text with its schema as a case of a suite: a tar archive to unpack in the folder of the suite.',
    body: caseRequestSchema,
    answer: { status: 200, media: 'application/x-tar' },
    problems: ['INVALID_SCHEMA', 'CASE_TOO_LARGE'],
  }),
  listEngines: endpoint({
    method: 'GET',
    path: '/v1/engines',
    scope: 'read',
    summary: 'What runs and orders may use: engines, programs, folders, permissions, workers.',
    answer: json(offerSchema),
  }),
  submitOrder: endpoint({
    method: 'POST',
    path: '/v1/orders',
    scope: 'run',
    summary:
      'Submits an order; its run becomes the active one of the issue. A race submits several, the answer is the first.',
    body: WORK_REQUEST_SCHEMA,
    answer: created(submittedOrderSchema),
    problems: ['INVALID_WORK_REQUEST', 'UNKNOWN_WORKER', 'FOLDER_NOT_ALLOWED', 'REQUEST_ID_REUSED'],
  }),
  listIssues: endpoint({
    method: 'GET',
    path: '/v1/issues',
    scope: 'read',
    summary: 'Lists issues, newest first.',
    query: {
      ...pageQuery,
      state: issueState,
      search: { ...search, description: 'Words of the reference; case-insensitive.' },
    },
    answer: json(listOf(issueSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getIssue: endpoint({
    method: 'GET',
    path: '/v1/issues/{ref}',
    scope: 'read',
    summary: 'One issue with its orders and open inbox items; the reference is percent-encoded.',
    answer: json(issueDetailSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  getIssueDiff: endpoint({
    method: 'GET',
    path: '/v1/issues/{ref}/diff',
    scope: 'read',
    summary: 'What an order of the issue has changed, file by file, committed or not; bounded.',
    query: { run_id: { ...name, description: 'Which order; that of the active run by default.' } },
    answer: json(changeSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  getIssueRace: endpoint({
    method: 'GET',
    path: '/v1/issues/{ref}/race',
    scope: 'read',
    summary: 'The runs of the last race with what each has changed, side by side; without a race, the newest order.',
    answer: json(raceSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  listWaiting: endpoint({
    method: 'GET',
    path: '/v1/waiting',
    scope: 'read',
    summary:
      'Everything that waits for a person: questions and permission requests of agents, sinks that fail, results to review. At most 200 of each.',
    answer: json(waitingSchema),
  }),
  listInbox: endpoint({
    method: 'GET',
    path: '/v1/inbox',
    scope: 'read',
    summary: 'Lists open inbox items, oldest first; or settled ones, newest first.',
    query: {
      ...pageQuery,
      open: { ...oneOf(['true', 'false']), description: 'true by default; false lists everything.' },
      settled: { ...oneOf(['true']), description: 'Only settled items, newest first.' },
      issue_ref: name,
    },
    answer: json(listOf(inboxAnswerSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getInboxItem: endpoint({
    method: 'GET',
    path: '/v1/inbox/{id}',
    scope: 'read',
    summary: 'One inbox item with its evidence.',
    answer: json(inboxAnswerSchema),
    problems: ['ITEM_NOT_FOUND'],
  }),
  previewResolution: endpoint({
    method: 'POST',
    path: '/v1/inbox/{id}/preview',
    scope: 'read',
    summary: 'The comment that a decision would write.',
    body: resolveRequestSchema,
    answer: json(commentPreviewSchema),
    problems: resolutionProblems,
  }),
  resolveItem: endpoint({
    method: 'POST',
    path: '/v1/inbox/{id}/resolve',
    scope: 'decide',
    summary: 'Decides an inbox item: accept, reject, retry or edit.',
    body: resolveRequestSchema,
    answer: json(inboxAnswerSchema),
    problems: resolutionProblems,
  }),
  listOutbox: endpoint({
    method: 'GET',
    path: '/v1/outbox',
    scope: 'read',
    summary: 'Lists comments and their delivery, newest first.',
    query: { ...pageQuery, state: outboxState, issue_ref: name },
    answer: json(listOf(outboxMessageSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  redeliverComment: endpoint({
    method: 'POST',
    path: '/v1/outbox/{id}/redeliver',
    scope: 'decide',
    summary: 'Sends a comment again that was given up or waits for its next try.',
    answer: json(redeliveredSchema),
    problems: ['COMMENT_NOT_FOUND'],
  }),
  redeliverSink: endpoint({
    method: 'POST',
    path: '/v1/outbox/redeliver',
    scope: 'decide',
    summary: 'Sends all comments of a sink again that were given up or wait for their next try, oldest first.',
    body: object({ sink: name }),
    answer: json(redeliveredSchema),
  }),
  listSinks: endpoint({
    method: 'GET',
    path: '/v1/sinks',
    scope: 'read',
    summary: 'Lists sinks with comments that are not delivered.',
    answer: json(listOf(sinkStateSchema)),
  }),
  listExecutions: endpoint({
    method: 'GET',
    path: '/v1/executions',
    scope: 'read',
    summary: 'Lists executions and their decisions, newest first.',
    query: { ...pageQuery, ...executionQuery },
    answer: json(listOf(executionSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  exportExecutions: endpoint({
    method: 'GET',
    path: '/v1/executions/export',
    scope: 'read',
    summary: 'Exports executions as CSV or NDJSON, with the filters of the list.',
    query: { ...executionQuery, format: oneOf(['csv', 'ndjson']) },
    answer: { status: 200, media: 'text/csv', alternative: 'application/x-ndjson' },
  }),
  listWorkers: endpoint({
    method: 'GET',
    path: '/v1/workers',
    scope: 'read',
    summary: 'Workers that reported within the last day, the latest first.',
    answer: json(listOf(workerSchema)),
  }),
  receiveTrigger: endpoint({
    method: 'POST',
    path: '/v1/triggers/{name}',
    scope: 'none',
    summary:
      'Receives a signed webhook of GitHub (X-Hub-Signature-256) or GitLab (X-Gitlab-Token) about an issue, and submits the order that the configuration maps it to.',
    body: { type: 'object' },
    answer: json(
      object(
        { status: oneOf(['submitted', 'ignored']) },
        { reason: text, issue_ref: name, run_id: name, repeated: flag },
      ),
    ),
    problems: ['SIGNATURE_REFUSED', 'INVALID_WORK_REQUEST', 'UNKNOWN_WORKER'],
  }),
  listBudgets: endpoint({
    method: 'GET',
    path: '/v1/budgets',
    scope: 'read',
    summary: 'What was used of the budgets of the configuration, and runs that wait for one; at most ten issues.',
    answer: json(budgetsSchema),
  }),
  readStatistics: endpoint({
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
  }),
  openSession: endpoint({
    method: 'POST',
    path: '/v1/session',
    scope: 'none',
    summary: 'Exchanges a token for a cookie, for pages and EventSource.',
    body: object({ token: text }),
    answer: json(sessionSchema),
    problems: ['TOKEN_REFUSED'],
  }),
  getSession: endpoint({
    method: 'GET',
    path: '/v1/session',
    scope: 'none',
    summary: 'The caller, its scopes, and whether tokens are required.',
    answer: json(sessionSchema),
  }),
  closeSession: endpoint({
    method: 'POST',
    path: '/v1/session/close',
    scope: 'none',
    summary: 'Deletes the cookie.',
    answer: json(object({ status: { const: 'closed' } })),
  }),
  health: endpoint({
    method: 'GET',
    path: '/healthz',
    scope: 'none',
    summary: 'The process is alive.',
    answer: json(object({ status: { const: 'ok' } })),
  }),
  ready: endpoint({
    method: 'GET',
    path: '/readyz',
    scope: 'none',
    summary: 'The store responds and new work is accepted.',
    answer: json(object({ status: { const: 'ready' } })),
  }),
  metrics: endpoint({
    method: 'GET',
    path: '/metrics',
    scope: 'read',
    summary: 'Metrics for Prometheus.',
    answer: { status: 200, media: 'text/plain' },
  }),
} as const satisfies Readonly<Record<string, Endpoint>>;

/** A name in {@link ENDPOINTS}. */
export type EndpointName = keyof typeof ENDPOINTS;
