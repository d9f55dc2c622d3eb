import { arrayOf, name, object, orNull, text, count, oneOf, flag, type FromSchema } from '../../../base/index.js';
import {
  REQUEST_ID,
  runFailureSchema,
  runMode,
  runPermissions,
  runRecordSchema,
  runResultSchema,
  storedRunSpec,
} from '../../../store/records/index.js';

/** A request to start a run: the spec, a request id, and the schema at the top level as in the library. */
export const runRequestSchema = {
  ...storedRunSpec,
  required: ['engine'],
  properties: {
    ...storedRunSpec.properties,
    workdir: {
      ...storedRunSpec.properties.workdir,
      description: "The agent's working folder, an absolute path; may be omitted if only one root is configured.",
    },
    schema: { type: 'object', description: 'The JSON Schema of the answer; short for contract.schema.' },
    request_id: {
      ...REQUEST_ID,
      description:
        'Idempotency key: the same request with the same id returns the same run; a different request with that id is refused.',
    },
  },
} as const;

const {
  owner: _owner,
  lease_until: _lease,
  spec,
  result,
  refused_answers,
  ...stateFields
} = runRecordSchema.properties;

/** The host that claimed the run and has its folder; absent until the run is claimed. */
const host = name;

/** The first line of the order's instructions, or of the prompt or command; shortened. */
const title = text;

/** A run and its state, with its engine at the top level and without its claim. */
export const runSchema = object({ ...stateFields, engine: name, spec, result }, { host, title, refused_answers });

export type RunView = FromSchema<typeof runSchema>;

const { status, repair_level, attempts, usage } = runResultSchema.properties;
const { category, code, message } = runFailureSchema.properties;

/** A run in a list, with a shortened prompt and without its value, to keep pages small. */
export const runSummarySchema = object(
  {
    ...stateFields,
    engine: name,
    title,
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

export type RunSummary = FromSchema<typeof runSummarySchema>;

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
      input: oneOf(['prompt', 'command']),
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
