import { anything, arrayOf, name, object, oneOf, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { workResult } from './work-result.js';

/** Where a result was read from, in the order of trust. */
export const readingSource = oneOf(['json', 'text', 'streams', 'none']);

/** A reason why a reading is not accepted; the codes are listed in `docs/errors.md`. */
export const problemSchema = object({ code: name, message: text }, { path: text });

/** A worker's result as it was read, and the problems with it. */
export const readingSchema = object(
  {
    source: readingSource,
    /** Any of them keeps the order from advancing. */
    problems: arrayOf(problemSchema),
  },
  {
    /** The file or stream it was read from. */
    path: text,
    /**
     * Present only if issue, run and status were read strictly, from a complete file. It may still lack evidence: then
     * `problems` lists it.
     */
    result: workResult,
    /** Anchors found in the streams; never enough to advance. */
    anchors: object({}, { issue_ref: text, run_id: text, status: text }),
    /** The agent's words, cut, where it answered and left no result that counts. Comments quote them. */
    answer: text,
    /** Worth knowing, but no reason to distrust the result. */
    notices: arrayOf(problemSchema),
    /** A repaired reading: it pre-fills the inbox and decides nothing. */
    draft: anything,
  },
);

/** See {@link readingSource}. */
export type ReadingSource = FromSchema<typeof readingSource>;

/** See {@link problemSchema}. */
export type Problem = FromSchema<typeof problemSchema>;

/** A worker's result as it was read, and the problems with it. */
export type Reading = FromSchema<typeof readingSchema>;
