import { ENGINE_NAMES } from './engine-names.js';
import { count, name, object, oneOf, ordinal } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

const counts = { type: 'object', additionalProperties: count } as const;

/** How often each unknown type and field was met in one attempt; the last row of an attempt that met any. */
export const driftSummarySchema = object({
  summary: { const: 'drift' },
  run_id: name,
  attempt_number: ordinal,
  engine: oneOf(ENGINE_NAMES),
  engine_version: { type: ['string', 'null'] },
  unknown_types: counts,
  unknown_fields: counts,
});

/** How often an engine said what this version does not know. */
export type DriftSummary = FromSchema<typeof driftSummarySchema>;
