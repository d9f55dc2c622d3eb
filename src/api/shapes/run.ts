import { anything, count, flag, name, object, oneOf, text, timestamp } from '../../events/protocol/schema-type.js';
import type { FromSchema } from '../../events/protocol/schema-type.js';
import { orNull } from './lists.js';

/** What came of a run. */
export const runResultSchema = object(
  {
    status: oneOf(['success', 'failed', 'canceled', 'comment']),
    repair_level: oneOf(['none', 'deterministic_generic', 'schema_aligned']),
    warnings: { type: 'array', items: object({ code: name, message: text }) },
    artifacts: { type: 'object' },
    attempts: count,
    session_id: orNull(name),
  },
  { value: anything, comment: text, error: { type: 'object' }, usage: { type: 'object' }, cached_from: name },
);

/** A run, as it stands. */
export const runSchema = object({
  id: name,
  engine: name,
  state: oneOf(['queued', 'running', 'waiting', 'ended']),
  spec: { type: 'object' },
  order: orNull(object({ issue_ref: name, run_id: name })),
  cancel_requested: flag,
  created_at: timestamp,
  started_at: orNull(timestamp),
  ended_at: orNull(timestamp),
  result: orNull(runResultSchema),
});

/** See {@link runSchema}. */
export type RunView = FromSchema<typeof runSchema>;
