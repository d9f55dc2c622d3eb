import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { decisionAction } from './decision.js';
import { evidenceSchema } from './evidence.js';
import { problemSchema, readingSource } from './reading.js';

/** One decision about an order, and the execution it is based on. Append-only: a human decision adds another row. */
export const executionSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    worker: name,
    worker_type: name,
    command: arrayOf(text),
    /** The version reported by the agent, if any. */
    worker_version: orNull(text),
    parser_version: name,
    started_at: orNull(timestamp),
    duration_ms: orNull({ type: 'number', minimum: 0 }),
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    /** The format the result was found in. */
    result_encoding: readingSource,
    /** The file or stream the result was read from, or null. */
    parse_path: orNull(text),
    parse_status: oneOf(['parsed', 'incomplete', 'unreadable', 'anchors', 'missing']),
    problems: arrayOf(problemSchema),
    decision: decisionAction,
    result_code: name,
    reason: text,
    /** Who made the decision: a user's name, or null for the rules. */
    who: orNull(name),
    at: timestamp,
  },
  {
    /** Evidence for the decision; absent in records of earlier versions and for human decisions. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** One decision about an order, and the execution it is based on. */
export type ExecutionRecord = FromSchema<typeof executionSchema>;
