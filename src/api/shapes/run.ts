import { arrayOf, name, object, orNull, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  REQUEST_ID,
  runFailureSchema,
  runMode,
  runPermissions,
  runRecordSchema,
  runResultSchema,
  storedRunSpec,
} from '../../records/index.js';

/** A run to be started: its spec, and an id of the request. */
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

const { owner: _owner, lease_until: _lease, spec, result, ...standing } = runRecordSchema.properties;

/** The machine that executes or has executed it, and has its folder; absent while none has claimed it. */
const host = name;

/** A run and its state, with its engine at the top and without its claim. */
export const runSchema = object({ ...standing, engine: name, spec, result }, { host });

/** See {@link runSchema}. */
export type RunView = FromSchema<typeof runSchema>;

const { status, repair_level, attempts, usage } = runResultSchema.properties;
const { category, code, message } = runFailureSchema.properties;

/** A run in a list: its prompt shortened, its value left out, so that a page stays small. */
export const runSummarySchema = object(
  {
    ...standing,
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
          /** The kinds of the first repairs, each once; absent without repairs. */
          repair_kinds: arrayOf(name),
        },
      ),
    ),
  },
  { host },
);

/** See {@link runSummarySchema}. */
export type RunSummary = FromSchema<typeof runSummarySchema>;
