import { anything, flag, object, oneOf, text } from '../../events/protocol/schema-type.js';

/** What is to be read, and how: as `sluice parse` takes it. */
export const parseRequestSchema = object(
  { text },
  {
    schema: { type: ['object', 'boolean'], description: 'A JSON Schema, draft 2020-12.' },
    profile: oneOf(['default', 'generic', 'tagged', 'unified']),
    allow_partial: flag,
    align: flag,
  },
);

/** What came of it: as `sluice parse` prints it. */
export const parseAnswerSchema = object(
  {
    status: oneOf(['success', 'failed', 'comment']),
    repair_level: oneOf(['none', 'deterministic_generic', 'schema_aligned']),
    repairs: { type: 'array', items: { type: 'object' } },
    warnings: { type: 'array', items: { type: 'object' } },
  },
  {
    value: anything,
    comment: text,
    alignment: { type: 'array', items: { type: 'object' } },
    error: anything,
    candidate: { type: 'object' },
  },
);
