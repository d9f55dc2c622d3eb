import { arrayOf, name, object, orNull, text, count, oneOf, flag, anything } from '../../../base/index.js';
import type { FromSchema } from '../../../base/index.js';
import {
  REQUEST_ID,
  runFailureSchema,
  runMode,
  runPermissions,
  runRecordSchema,
  runResultSchema,
  storedRunSpec,
  repairLevel,
} from '../../../store/records/index.js';

/** A request to start a run: the spec and a request id. */
export const runRequestSchema = {
  ...storedRunSpec,
  properties: {
    ...storedRunSpec.properties,
    request_id: {
      ...REQUEST_ID,
      description:
        'Idempotency key: the same request with the same id returns the same run; a different request with that id is refused.',
    },
  },
} as const;

const { owner: _owner, lease_until: _lease, spec, result, ...stateFields } = runRecordSchema.properties;

/** The host that claimed the run and has its folder; absent until the run is claimed. */
const host = name;

/** A run and its state, with its engine at the top level and without its claim. */
export const runSchema = object({ ...stateFields, engine: name, spec, result }, { host });

/** See {@link runSchema}. */
export type RunView = FromSchema<typeof runSchema>;

const { status, repair_level, attempts, usage } = runResultSchema.properties;
const { category, code, message } = runFailureSchema.properties;

/** A run in a list, with a shortened prompt and without its value, to keep pages small. */
export const runSummarySchema = object(
  {
    ...stateFields,
    engine: name,
    spec: object(
      {},
      { prompt: text, program: text, model: text, mode: runMode, permissions: runPermissions, workdir: text },
    ),
    result: orNull(
      object(
        { status, repair_level, attempts },
        {
          error: object({ category, code, message }),
          usage,
          /** The distinct repair kinds in the result; absent if it has no repairs. */
          repair_kinds: arrayOf(name),
        },
      ),
    ),
  },
  { host },
);

/** See {@link runSummarySchema}. */
export type RunSummary = FromSchema<typeof runSummarySchema>;

/** A run's files. */
export const runFilesSchema = object(
  {
    /** Where the files are loaded from; null if they are only on another host or were deleted. */
    source: orNull(oneOf(['folder', 'archive'])),
    /** The agent's output, input and report, by the name that `/evidence` accepts. */
    evidence: { type: 'array', items: object({ name, size: count }) },
    /** Files changed in the working folder; no size if the file was deleted or is not a regular file. */
    artifacts: {
      type: 'array',
      items: object({ path: name, change: oneOf(['created', 'modified', 'deleted']), size: orNull(count) }),
    },
    /** The number of unlisted artifacts: the list is limited to 1,000. */
    artifacts_left_out: count,
  },
  {
    /** The host that executed the run, if the files are not loaded from its folder. */
    host: name,
  },
);

const names = { type: 'array', items: name } as const;

/** The values that runs and orders may use on this server, so a form can offer them. */
export const offerSchema = object({
  engines: {
    type: 'array',
    items: object({
      name,
      /** The required field besides the folder. */
      takes: oneOf(['prompt', 'command']),
      /** Whether it can continue after a question: `mode: interactive`. */
      can_ask: flag,
      /** Whether it can ask for permissions: `permissions: ask`. */
      asks_permission: flag,
    }),
  },
  /** Executables that engine `command` may start. */
  commands: names,
  /** Folders that runs and orders may work in, including subfolders. */
  roots: names,
  /** Repositories that orders may name by their URL. */
  repos: names,
  permissions: { type: 'array', items: oneOf(['safe', 'workspace', 'bypass', 'ask']) },
  /** Environment variables that may be passed to agents. */
  env: names,
  /** The wrappers that orders may name in the field `worker`. */
  workers: { type: 'array', items: object({ name, type: name }) },
  /** Checks that an order may name. */
  checks: names,
});

/** The text to parse and the options, as in `sluice parse`. */
export const parseRequestSchema = object(
  { text },
  {
    schema: { type: ['object', 'boolean'], description: 'A JSON Schema, draft 2020-12.' },
    profile: oneOf(['default', 'generic', 'tagged', 'unified']),
    allow_partial: flag,
    align: flag,
    ambiguous: {
      ...oneOf(['first', 'last', 'fail']),
      description: 'Which value to use if different values are valid and nothing decides between them.',
    },
  },
);

/**
 * Text to export as a suite case, with the options that a contract has: a case has no `ambiguous`, and its schema is an
 * object.
 */
export const caseRequestSchema = object(
  {
    text: { type: 'string', maxLength: 1_000_000 },
    name: {
      type: 'string',
      maxLength: 100,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'The name of the case.',
    },
  },
  {
    schema: { type: 'object', description: 'A JSON Schema, draft 2020-12.' },
    profile: parseRequestSchema.properties.profile,
    allow_partial: flag,
    align: flag,
  },
);

const path = { type: 'array', items: { type: ['string', 'integer'] } } as const;
/** Where a value was found; offsets are UTF-16 units of the input without its byte order mark. */
const candidate = object({
  finder: oneOf(['whole', 'tag', 'ndjson', 'envelope', 'fence', 'prose']),
  start: count,
  end: count,
});

/** The result, as `sluice parse` prints it. */
export const parseResponseSchema = object(
  {
    status: oneOf(['success', 'failed', 'comment']),
    repair_level: repairLevel,
    repairs: {
      type: 'array',
      items: object(
        { kind: name, message: text, offset: count },
        {
          /** Only in the last repair of a long list: the number of further repairs. */
          omitted: count,
        },
      ),
    },
    warnings: { type: 'array', items: object({ code: name, message: text }, { offset: count, path }) },
  },
  {
    value: anything,
    comment: text,
    alignment: { type: 'array', items: object({ path, rule: name }, { from: anything, to: anything }) },
    /** Total number of changes, if not all are listed. */
    alignment_count: count,
    error: object(
      {
        code: name,
        message: text,
        attempts: { type: 'array', items: object({ candidate, code: name, message: text }) },
      },
      { hint: text, issues: { type: 'array', items: object({ path, message: text }) } },
    ),
    candidate,
  },
);
