import { anything, arrayOf, count, name, object, oneOf, orNull } from '../../../base/index.js';
import { repairLevel, runOutcome, runState, permissionChoiceSchema } from '../../../store/records/index.js';
import { created, get, json, post, definePage, pageQuery, timeParameter, search } from '../endpoint.js';
import { offerSchema, runRequestSchema, runSchema, runSummarySchema, runFilesSchema } from '../shapes/run.js';
import { caseRequestSchema, parseResponseSchema, parseRequestSchema } from '../shapes/parse.js';

const protocol = {
  ...oneOf(['fcmp', 'rasp', 'agui', 'acp']),
  description: 'The event protocol; fcmp by default.',
} as const;

const position = { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?$' } as const;

const liveEvents = {
  query: {
    protocol: {
      ...oneOf(['fcmp', 'rasp', 'agui', 'acp', 'fcmp,rasp']),
      description:
        'The event protocol; fcmp by default. fcmp,rasp sends both logs on one connection, with separate ids and two end events; to resume, pass both positions: 17,1:17.',
    },
    after: { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?(?:,\\d{1,15}:\\d{1,15})?$' },
  },
  response: { status: 200, media: 'text/event-stream' },
  problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
} as const;

const filePreview = {
  response: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'RUN_ON_ANOTHER_HOST', 'INVALID_RANGE'],
} as const;

export const runEndpoints = {
  parse: post('/v1/parse', 'read', {
    summary: 'Extracts JSON from text, repairs its syntax and validates it.',
    body: parseRequestSchema,
    response: json(parseResponseSchema),
    problems: ['INVALID_SCHEMA'],
  }),
  exportTextCase: post('/v1/parse/case', 'read', {
    summary: "Exports text and its schema as a suite case: a tar archive to unpack in the suite's folder.",
    body: caseRequestSchema,
    response: { status: 200, media: 'application/x-tar' },
    problems: ['INVALID_SCHEMA', 'CASE_TOO_LARGE'],
  }),
  startRun: post('/v1/runs', 'run', {
    summary: 'Queues a run.',
    body: runRequestSchema,
    response: created(object({ id: name })),
    problems: [
      'INVALID_RUN_SPEC',
      'FOLDER_NOT_ALLOWED',
      'COMMAND_NOT_ALLOWED',
      'PERMISSIONS_NOT_ALLOWED',
      'ENVIRONMENT_NOT_ALLOWED',
      'REQUEST_ID_REUSED',
    ],
  }),
  listRuns: get('/v1/runs', 'read', {
    summary: 'Lists runs, newest first; long prompts are shortened and values omitted.',
    query: {
      ...pageQuery,
      state: runState,
      engine: name,
      search: {
        ...search,
        description:
          "Words in the id, engine, issue, folder, command, prompt, or the error's code or message; case-insensitive.",
      },
      outcome: runOutcome,
      repair_level: repairLevel,
      since: timeParameter,
      until: timeParameter,
      ended_since: timeParameter,
      ended_until: timeParameter,
      model: name,
      engine_version: name,
      total: {
        ...oneOf(['true']),
        description: 'Also counts all runs that match, unless that means reading more than 50,000.',
      },
    },
    response: json(object(definePage(runSummarySchema).properties, { total: count })),
    problems: ['INVALID_CURSOR'],
  }),
  getRun: get('/v1/runs/{id}', 'read', {
    summary: 'Returns one run, with its result once it has ended.',
    response: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  replyToRun: post('/v1/runs/{id}/reply', 'run', {
    summary:
      'Replies to a waiting run: text answers `user.input.required`; an option answers `permission.required` and also needs the scope `decide`. Responds when the run has received the reply.',
    body: {
      anyOf: [object({ text: { type: 'string', minLength: 1, maxLength: 1_000_000 } }), permissionChoiceSchema],
    },
    response: json(object({ status: { const: 'posted' } })),
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_WAITING', 'INVALID_REPLY'],
  }),
  cancelRun: post('/v1/runs/{id}/cancel', 'run', {
    summary: 'Cancels a run.',
    response: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  followRun: get('/v1/runs/{id}/events', 'read', {
    summary: "Streams a run's events as server-sent events; the id is the position to resume after.",
    ...liveEvents,
  }),
  followRunByPost: post('/v1/runs/{id}/events', 'read', {
    summary: "Streams a run's events like the GET endpoint, for AG-UI HTTP agents; the body is ignored.",
    ...liveEvents,
  }),
  readHistory: get('/v1/runs/{id}/history', 'read', {
    summary: "Returns a range of a run's events, both ends included.",
    query: { protocol, from: position, to: position, limit: { type: 'integer', minimum: 1, maximum: 5000 } },
    response: json(object({ events: arrayOf(anything), next_from: orNull(name) })),
    problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
  }),
  listEngines: get('/v1/engines', 'read', {
    summary: 'Lists the engines, commands, folders, permissions and wrappers that runs and orders may use.',
    response: json(offerSchema),
  }),
  readRaw: get('/v1/runs/{id}/raw/{attempt}/{stream}', 'read', {
    summary: 'Returns the captured bytes of a stream; supports byte ranges.',
    response: { status: 200, media: 'application/octet-stream' },
    problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'RUN_ON_ANOTHER_HOST', 'INVALID_RANGE'],
  }),
  listRunFiles: get('/v1/runs/{id}/files', 'read', {
    summary: "Lists a run's files: evidence of what happened, and the files that it changed.",
    response: json(runFilesSchema),
    problems: ['RUN_NOT_FOUND'],
  }),
  readEvidence: get('/v1/runs/{id}/evidence', 'read', {
    summary: 'Returns an evidence file as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
    query: { name },
    ...filePreview,
  }),
  readArtifact: get('/v1/runs/{id}/artifact', 'read', {
    summary:
      'Returns the current content of a file that the run changed, as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
    query: { path: name },
    ...filePreview,
  }),
  exportRun: get('/v1/runs/{id}/export', 'read', {
    summary: 'Exports the run folder as a tar archive.',
    response: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'RUN_ON_ANOTHER_HOST'],
  }),
  reportRun: get('/v1/runs/{id}/report', 'read', {
    summary:
      'Exports the run as one self-contained HTML file without scripts, for example for a bug report; the size is limited.',
    response: { status: 200, media: 'text/html' },
    problems: ['RUN_NOT_FOUND'],
  }),
  exportRunCase: get('/v1/runs/{id}/case', 'read', {
    summary: "Exports the run as a suite case: a tar archive to unpack in the suite's folder.",
    response: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_ENDED', 'FILE_NOT_FOUND', 'CASE_TOO_LARGE'],
  }),
};
