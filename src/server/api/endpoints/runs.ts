import { anything, arrayOf, name, object, oneOf, orNull } from '../../../base/index.js';
import { repairLevel, runOutcome, runState, permissionChoiceSchema } from '../../../store/records/index.js';
import { created, defineEndpoints, json } from '../endpoint.js';
import { definePage, pageQuery } from '../shapes/lists.js';
import { offerSchema } from '../shapes/offer.js';
import { runRequestSchema, runSchema, runSummarySchema } from '../shapes/run.js';
import { timeParameter, search } from './parameters.js';

const protocol = {
  ...oneOf(['fcmp', 'rasp', 'agui', 'acp']),
  description: 'The event protocol; fcmp by default.',
} as const;

const position = { type: 'string', pattern: '^\\d{1,15}(?::\\d{1,15})?$' } as const;

/** Fields shared by both endpoints for following a run. */
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

export const runEndpoints = defineEndpoints({
  startRun: {
    method: 'POST',
    path: '/v1/runs',
    scope: 'run',
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
  },
  listRuns: {
    method: 'GET',
    path: '/v1/runs',
    scope: 'read',
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
    },
    response: json(definePage(runSummarySchema)),
    problems: ['INVALID_CURSOR'],
  },
  getRun: {
    method: 'GET',
    path: '/v1/runs/{id}',
    scope: 'read',
    summary: 'Returns one run, with its result once it has ended.',
    response: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  },
  replyToRun: {
    method: 'POST',
    path: '/v1/runs/{id}/reply',
    scope: 'run',
    summary:
      'Replies to a waiting run: text answers `user.input.required`; an option answers `permission.required` and also needs the scope `decide`. Responds when the run has received the reply.',
    body: {
      anyOf: [object({ text: { type: 'string', minLength: 1, maxLength: 1_000_000 } }), permissionChoiceSchema],
    },
    response: json(object({ status: { const: 'posted' } })),
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_WAITING', 'INVALID_REPLY'],
  },
  cancelRun: {
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    scope: 'run',
    summary: 'Cancels a run.',
    response: json(runSchema),
    problems: ['RUN_NOT_FOUND'],
  },
  followRun: {
    method: 'GET',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: "Streams a run's events as server-sent events; the id is the position to resume after.",
    ...liveEvents,
  },
  followRunByPost: {
    method: 'POST',
    path: '/v1/runs/{id}/events',
    scope: 'read',
    summary: "Streams a run's events like the GET endpoint, for AG-UI HTTP agents; the body is ignored.",
    ...liveEvents,
  },
  readHistory: {
    method: 'GET',
    path: '/v1/runs/{id}/history',
    scope: 'read',
    summary: "Returns a range of a run's events, both ends included.",
    query: { protocol, from: position, to: position, limit: { type: 'integer', minimum: 1, maximum: 5000 } },
    response: json(object({ events: arrayOf(anything), next_from: orNull(name) })),
    problems: ['RUN_NOT_FOUND', 'INVALID_POSITION'],
  },
  listEngines: {
    method: 'GET',
    path: '/v1/engines',
    scope: 'read',
    summary: 'Lists the engines, commands, folders, permissions and wrappers that runs and orders may use.',
    response: json(offerSchema),
  },
});
