import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { decisionAction } from './decision.js';
import { evidenceSchema } from './evidence.js';
import { problemSchema, readingSource } from './reading.js';

/** One execution of an order and its outcome. Append-only: one row for every settle and every archive. */
export const executionSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    worker: name,
    worker_type: name,
    command: arrayOf(text),
    /** The version the worker reports, if any. */
    worker_version: orNull(text),
    parser_version: name,
    started_at: orNull(timestamp),
    duration_ms: orNull({ type: 'number', minimum: 0 }),
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    /** The encoding of the result. */
    result_encoding: readingSource,
    /** The file or stream it was read from; null if none. */
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
    /** Evidence for the decision; absent in records of earlier versions and in decisions of people. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** One execution of an order and its outcome. */
export type ExecutionRecord = FromSchema<typeof executionSchema>;
