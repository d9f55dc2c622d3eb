import { arrayOf, name, object, orNull, text } from '../../../base/index.js';
import type { FromSchema } from '../../../base/index.js';
import {
  REQUEST_ID,
  runFailureSchema,
  runMode,
  runPermissions,
  runRecordSchema,
  runResultSchema,
  storedRunSpec,
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
