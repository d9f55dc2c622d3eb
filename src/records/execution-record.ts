import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { decisionAction } from './decision.js';
import { evidenceSchema } from './evidence.js';
import { problemSchema, readingSource } from './reading.js';

/** One decision about an order, and the execution it is based on. Append-only: a person's decision adds another row. */
export const executionSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    worker: name,
    worker_type: name,
    command: arrayOf(text),
    /** The version that the agent reports, if any. */
    worker_version: orNull(text),
    parser_version: name,
    started_at: orNull(timestamp),
    duration_ms: orNull({ type: 'number', minimum: 0 }),
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    /** The form in which the result was read. */
    result_encoding: readingSource,
    /** The file or stream that the result was read from; null if there is none. */
    parse_path: orNull(text),
    parse_status: oneOf(['parsed', 'incomplete', 'unreadable', 'anchors', 'missing']),
    problems: arrayOf(problemSchema),
    decision: decisionAction,
    result_code: name,
    reason: text,
    /** The author of the decision: null for the rules, a name for a person. */
    who: orNull(name),
    at: timestamp,
  },
  {
    /** Evidence for the decision; absent in records of earlier versions and for decisions by people. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** One decision about an order, and the execution that it is based on. */
export type ExecutionRecord = FromSchema<typeof executionSchema>;
