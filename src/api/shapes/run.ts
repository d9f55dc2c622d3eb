import { anything, count, flag, name, object, oneOf, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { REQUEST_ID, runSpecSchema } from '../../records/index.js';
import { orNull } from './lists.js';

/** A run that is asked for: its spec, and what the request itself is called. */
export const runRequestSchema = {
  ...runSpecSchema,
  $id: 'urn:sluice:schema:run-request:1.0',
  title: 'A run that is asked for',
  properties: {
    ...runSpecSchema.properties,
    request_id: {
      ...REQUEST_ID,
      description:
        'The same request under the same id gives the same run, however often it is sent; another one is refused.',
    },
  },
} as const;

const outcome = {
  status: oneOf(['success', 'failed', 'canceled', 'comment']),
  repair_level: oneOf(['none', 'deterministic_generic', 'schema_aligned']),
  attempts: count,
} as const;

/** What came of a run. */
const runResultSchema = object(
  {
    ...outcome,
    warnings: { type: 'array', items: object({ code: name, message: text }) },
    artifacts: { type: 'object' },
    session_id: orNull(name),
  },
  {
    value: anything,
    comment: text,
    text,
    error: { type: 'object' },
    usage: { type: 'object' },
    repairs: { type: 'array', items: object({ kind: name, message: text, offset: count }) },
    drift: object({ unknown_types: count, unknown_fields: count }),
    process: { type: 'object' },
    cached_from: name,
  },
);

/** How runs stand and end; the filters of their list take the same words. */
export const runState = oneOf(['queued', 'running', 'waiting', 'ended']);
export const { status: runOutcome, repair_level: repairLevel } = outcome;

const standing = {
  id: name,
  engine: name,
  state: runState,
  order: orNull(object({ issue_ref: name, run_id: name })),
  cancel_requested: flag,
  created_at: timestamp,
  started_at: orNull(timestamp),
  ended_at: orNull(timestamp),
} as const;

/** A run, as it stands. */
export const runSchema = object({ ...standing, spec: { type: 'object' }, result: orNull(runResultSchema) });

/** See {@link runSchema}. */
export type RunView = FromSchema<typeof runSchema>;

/** A run in a list: its prompt cut, its value left out, so that a page stays small. */
export const runSummarySchema = object({
  ...standing,
  spec: object({}, { prompt: text, program: text, model: text, mode: text, permissions: text, workdir: text }),
  result: orNull(
    object(outcome, { error: object({ category: name, code: name, message: text }), usage: { type: 'object' } }),
  ),
});

/** See {@link runSummarySchema}. */
export type RunSummary = FromSchema<typeof runSummarySchema>;
