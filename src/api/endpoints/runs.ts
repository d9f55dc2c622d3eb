import { anything, arrayOf, name, object, oneOf, orNull } from '../../base/index.js';
import { repairLevel, runOutcome, runState, permissionChoiceSchema } from '../../records/index.js';
import { created, endpoint, json } from '../endpoint.js';
import { listOf, pageQuery } from '../shapes/lists.js';
import { offerSchema } from '../shapes/offer.js';
import { runRequestSchema, runSchema, runSummarySchema } from '../shapes/run.js';
import { moment, search } from './parameters.js';

const protocol = { ...oneOf(['fcmp', 'rasp', 'agui', 'acp']), description: 'Which events; fcmp by default.' } as const;

const position = { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?$' } as const;

/** Fields that both endpoints for following a run share. */
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

export const startRun = endpoint({
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
});

export const listRuns = endpoint({
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
});

export const getRun = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}',
  scope: 'read',
  summary: 'One run, with its result once it has ended.',
  answer: json(runSchema),
  problems: ['RUN_NOT_FOUND'],
});

export const replyToRun = endpoint({
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
});

export const cancelRun = endpoint({
  method: 'POST',
  path: '/v1/runs/{id}/cancel',
  scope: 'run',
  summary: 'Cancels a run.',
  answer: json(runSchema),
  problems: ['RUN_NOT_FOUND'],
});

export const followRun = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/events',
  scope: 'read',
  summary: 'Streams the events of a run as server-sent events; the id is the position to resume after.',
  ...liveEvents,
});

export const followRunByPost = endpoint({
  method: 'POST',
  path: '/v1/runs/{id}/events',
  scope: 'read',
  summary: 'Streams the events of a run like the GET endpoint, for AG-UI HTTP agents; the body is ignored.',
  ...liveEvents,
});

export const readHistory = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/history',
  scope: 'read',
  summary: 'A range of the events of a run, both ends included.',
  query: { protocol, from: position, to: position, limit: { type: 'integer', minimum: 1, maximum: 5000 } },
  answer: json(object({ events: arrayOf(anything), next_from: orNull(name) })),
  problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
});

export const listEngines = endpoint({
  method: 'GET',
  path: '/v1/engines',
  scope: 'read',
  summary: 'Lists what runs and orders may use: engines, programs, folders, permissions, workers.',
  answer: json(offerSchema),
});
