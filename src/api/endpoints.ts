import { anything, arrayOf, name, object, oneOf, orNull, text } from '../base/index.js';
import {
  WORK_REQUEST_SCHEMA,
  decisionAction,
  executionSchema,
  inboxItemSchema,
  issueSchema,
  issueState,
  outboxMessageSchema,
  outboxState,
  repairLevel,
  runOutcome,
  runState,
} from '../records/index.js';
import { created, endpoint, json } from './endpoint.js';
import type { Endpoint } from './endpoint.js';
import { runFilesSchema } from './shapes/files.js';
import { listOf, pageQuery } from './shapes/lists.js';
import { offerSchema } from './shapes/offer.js';
import { commentPreviewSchema, issueDetailSchema, orderSchema, resolveRequestSchema } from './shapes/order.js';
import { parseAnswerSchema, parseRequestSchema } from './shapes/parse.js';
import { runRequestSchema, runSchema, runSummarySchema } from './shapes/run.js';
import { sessionSchema } from './shapes/session.js';
import { statisticsSchema } from './shapes/statistics.js';

const protocol = { ...oneOf(['fcmp', 'rasp', 'agui', 'acp']), description: 'Which events; fcmp by default.' } as const;
const position = { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?$' } as const;

const moment = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z)?$',
  description: 'A day, or a moment as toISOString writes it.',
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
  'ITEM_UNKNOWN',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

/** What the two ways to follow a run have in common. */
const liveEvents = {
  query: { protocol, after: position },
  answer: { status: 200, media: 'text/event-stream' },
  problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
} as const;

/** How the server shows part of a file, whichever it is. */
const filePreview = {
  answer: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'INVALID_RANGE'],
} as const;

/** Everything the server can be asked, by name. Server, client, OpenAPI and documentation are made from this table. */
export const ENDPOINTS = {
  parse: endpoint({
    method: 'POST',
    path: '/v1/parse',
    scope: 'read',
    summary: 'Finds the JSON in a text, repairs its syntax, checks it against a schema.',
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
    summary: 'Lists runs, newest first; long prompts are cut, values left out.',
    query: {
      ...pageQuery,
      state: runState,
      engine: name,
      search: { ...search, description: 'Words of its id, engine, issue, folder, program or prompt, in any case.' },
      outcome: runOutcome,
      repair_level: repairLevel,
      since: moment,
      until: moment,
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
    summary: 'Answers the question a run waits with; returns when the run has been told.',
    body: object({ text: { type: 'string', minLength: 1, maxLength: 1_000_000 } }),
    answer: json(object({ status: { const: 'posted' } })),
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_WAITING'],
  }),
  cancelRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    scope: 'run',
    summary: 'Asks a run to end.',
    answer: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  followRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: 'The events of a run, live: server-sent events whose id is the position to resume after.',
    ...liveEvents,
  }),
  followRunByPost: endpoint({
    method: 'POST',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: 'The same by POST, as HTTP agents of AG-UI ask; what they send is not read.',
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
    summary: 'The bytes of a stream as they were captured; byte ranges by the Range header.',
    answer: { status: 200, media: 'application/octet-stream' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'INVALID_RANGE'],
  }),
  listRunFiles: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/files',
    scope: 'read',
    summary: 'What a run left behind: the files that tell what happened, and those it changed.',
    answer: json(runFilesSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  readEvidence: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/evidence',
    scope: 'read',
    summary:
      'A file that tells what happened, as text: its first MiB, or a byte range; x-total-bytes says how much there is.',
    query: { name },
    ...filePreview,
  }),
  readArtifact: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/artifact',
    scope: 'read',
    summary: 'A file that the run changed, as it is now, in the same way.',
    query: { path: name },
    ...filePreview,
  }),
  exportRun: endpoint({
    method: 'GET',
    path: '/v1/runs/{id}/export',
    scope: 'read',
    summary: 'The folder of a run as a tar archive: a fixture to replay elsewhere.',
    answer: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND'],
  }),
  listEngines: endpoint({
    method: 'GET',
    path: '/v1/engines',
    scope: 'read',
    summary: 'What runs and orders may ask for here: engines, programs, folders, permissions, workers.',
    answer: json(offerSchema),
  }),
  submitOrder: endpoint({
    method: 'POST',
    path: '/v1/orders',
    scope: 'run',
    summary: 'Hands out an order: its run becomes the active one of the issue.',
    body: WORK_REQUEST_SCHEMA,
    answer: created(orderSchema),
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
      search: { ...search, description: 'Words of its reference, in any case.' },
    },
    answer: json(listOf(issueSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getIssue: endpoint({
    method: 'GET',
    path: '/v1/issues/{ref}',
    scope: 'read',
    summary: 'One issue with its orders and what waits for a person; the reference is percent-encoded.',
    answer: json(issueDetailSchema),
    problems: ['ISSUE_NOT_FOUND'],
  }),
  listInbox: endpoint({
    method: 'GET',
    path: '/v1/inbox',
    scope: 'read',
    summary: 'What waits for a person, oldest first; or what is settled, newest first.',
    query: {
      ...pageQuery,
      open: { ...oneOf(['true', 'false']), description: 'true by default; false lists everything.' },
      settled: { ...oneOf(['true']), description: 'Only what is settled, newest first.' },
      issue_ref: name,
    },
    answer: json(listOf(inboxItemSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  getInboxItem: endpoint({
    method: 'GET',
    path: '/v1/inbox/{id}',
    scope: 'read',
    summary: 'One thing that waits, with the evidence.',
    answer: json(inboxItemSchema),
    problems: ['ITEM_UNKNOWN'],
  }),
  previewResolution: endpoint({
    method: 'POST',
    path: '/v1/inbox/{id}/preview',
    scope: 'read',
    summary: 'The comment an answer would write, exactly as it would be delivered.',
    body: resolveRequestSchema,
    answer: json(commentPreviewSchema),
    problems: resolutionProblems,
  }),
  resolveItem: endpoint({
    method: 'POST',
    path: '/v1/inbox/{id}/resolve',
    scope: 'decide',
    summary: 'Settles what waits: accept, reject, retry or edit.',
    body: resolveRequestSchema,
    answer: json(inboxItemSchema),
    problems: resolutionProblems,
  }),
  listOutbox: endpoint({
    method: 'GET',
    path: '/v1/outbox',
    scope: 'read',
    summary: 'Comments on their way, newest first.',
    query: { ...pageQuery, state: outboxState, issue_ref: name },
    answer: json(listOf(outboxMessageSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  listExecutions: endpoint({
    method: 'GET',
    path: '/v1/executions',
    scope: 'read',
    summary: 'The audit: every execution and what came of it, newest first.',
    query: { ...pageQuery, ...executionQuery },
    answer: json(listOf(executionSchema)),
    problems: ['INVALID_CURSOR'],
  }),
  exportExecutions: endpoint({
    method: 'GET',
    path: '/v1/executions/export',
    scope: 'read',
    summary: 'The audit as a file, CSV for spreadsheets by default, with the filters of the list.',
    query: { ...executionQuery, format: oneOf(['csv', 'ndjson']) },
    answer: { status: 200, media: 'text/csv', alternative: 'application/x-ndjson' },
  }),
  readStatistics: endpoint({
    method: 'GET',
    path: '/v1/statistics',
    scope: 'read',
    summary: 'Figures over time: how runs ended, how long they took, what nobody knew, what waited for a person.',
    query: {
      since: moment,
      until: moment,
      step: {
        type: 'integer',
        minimum: 60,
        maximum: 31_536_000,
        description: 'Seconds; by default as long as gives some dozens of steps.',
      },
    },
    answer: json(statisticsSchema),
  }),
  openSession: endpoint({
    method: 'POST',
    path: '/v1/session',
    scope: 'none',
    summary: 'Trades a token for a cookie, for pages and EventSource.',
    body: object({ token: text }),
    answer: json(sessionSchema),
    problems: ['TOKEN_REFUSED'],
  }),
  getSession: endpoint({
    method: 'GET',
    path: '/v1/session',
    scope: 'none',
    summary: 'Who asks, what they may do, and whether a token is needed at all.',
    answer: json(sessionSchema),
  }),
  closeSession: endpoint({
    method: 'POST',
    path: '/v1/session/close',
    scope: 'none',
    summary: 'Takes the cookie back.',
    answer: json(object({ status: { const: 'closed' } })),
  }),
  health: endpoint({
    method: 'GET',
    path: '/healthz',
    scope: 'none',
    summary: 'The process lives.',
    answer: json(object({ status: { const: 'ok' } })),
  }),
  ready: endpoint({
    method: 'GET',
    path: '/readyz',
    scope: 'none',
    summary: 'The store answers and new work is taken.',
    answer: json(object({ status: { const: 'ready' } })),
  }),
  metrics: endpoint({
    method: 'GET',
    path: '/metrics',
    scope: 'read',
    summary: 'Figures for Prometheus.',
    answer: { status: 200, media: 'text/plain' },
  }),
} as const satisfies Readonly<Record<string, Endpoint>>;

/** A name in {@link ENDPOINTS}. */
export type EndpointName = keyof typeof ENDPOINTS;
