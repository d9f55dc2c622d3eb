import { name, object, text } from '../../../base/index.js';
import type { FromSchema } from '../../../base/index.js';

/** Why a request failed: RFC 9457 problem details with a code. */
export const problemSchema = object(
  {
    /** `urn:sluice:problem:<code>`. */
    type: name,
    title: name,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    /** What happened, and what to do. */
    detail: text,
    /** As in docs/errors.md. */
    code: name,
    request_id: name,
  },
  {
    issues: { type: 'array', items: object({ path: text, message: text }) },
    active_run_id: { anyOf: [name, { type: 'null' }] },
  },
);

/** See {@link problemSchema}. */
export type Problem = FromSchema<typeof problemSchema>;
