import { flag, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  REQUEST_ID,
  runFailureSchema,
  runMode,
  runPermissions,
  runResultSchema,
  runSpecSchema,
} from '../../records/index.js';

/** The state of a run; the filters of the list use the same words. */
export const runState = oneOf(['queued', 'running', 'waiting', 'ended']);

const { $schema: _dialect, $id: _id, title: _title, ...specSchema } = runSpecSchema;

/** A run to be started: its spec, and an id of the request. */
export const runRequestSchema = {
  ...specSchema,
  properties: {
    ...specSchema.properties,
    request_id: {
      ...REQUEST_ID,
      description:
        'The same request under the same id gives the same run, however often it is sent; another one is refused.',
    },
  },
} as const;

const standing = {
  id: name,
  engine: name,
  state: runState,
  order: orNull(object({ issue_ref: name, run_id: name })),
  cancel_requested: flag,
  /** Why a queued run does not start: its folder is in use, by that run or (null) by a process outside the store. */
  waiting_for: orNull(object({ reason: oneOf(['folder']), run: orNull(name) })),
  created_at: timestamp,
  started_at: orNull(timestamp),
  ended_at: orNull(timestamp),
} as const;

/** A run and its state. */
export const runSchema = object({ ...standing, spec: specSchema, result: orNull(runResultSchema) });

/** See {@link runSchema}. */
export type RunView = FromSchema<typeof runSchema>;

const { status, repair_level, attempts, usage } = runResultSchema.properties;
const { category, code, message } = runFailureSchema.properties;

/** A run in a list: its prompt shortened, its value left out, so that a page stays small. */
export const runSummarySchema = object({
  ...standing,
  spec: object(
    {},
    { prompt: text, program: text, model: text, mode: runMode, permissions: runPermissions, workdir: text },
  ),
  result: orNull(object({ status, repair_level, attempts }, { error: object({ category, code, message }), usage })),
});

/** See {@link runSummarySchema}. */
export type RunSummary = FromSchema<typeof runSummarySchema>;
