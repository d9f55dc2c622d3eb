import { anything, arrayOf, name, object, oneOf, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { workResult } from './work-result.js';

/** The sources of a result, most trusted first. */
export const readingSource = oneOf(['json', 'text', 'streams', 'none']);

/** A reason why a reading is not accepted; the codes are listed in `docs/errors.md`. */
export const problemSchema = object({ code: name, message: text }, { path: text });

/** The result read from an agent's output, and the problems with it. */
export const readingSchema = object(
  {
    source: readingSource,
    /** Any problem prevents the order from advancing. */
    problems: arrayOf(problemSchema),
  },
  {
    /** The file or stream the result was read from. */
    path: text,
    /**
     * Present only if issue, run and status were read without repairs from a complete file. Missing evidence is listed
     * in `problems`.
     */
    result: workResult,
    /** Anchors found in the output streams; never sufficient to advance. */
    anchors: object({}, { issue_ref: text, run_id: text, status: text }),
    /** The agent's shortened answer if it left no valid result. Comments quote it. */
    answer: text,
    /** Hints that do not affect the decision. */
    notices: arrayOf(problemSchema),
    /** A repaired result, which pre-fills the form in the inbox and does not affect the decision. */
    draft: anything,
  },
);

/** See {@link readingSource}. */
export type ReadingSource = FromSchema<typeof readingSource>;

/** See {@link problemSchema}. */
export type Problem = FromSchema<typeof problemSchema>;

/** The result read from an agent's output, and the problems with it. */
export type Reading = FromSchema<typeof readingSchema>;
