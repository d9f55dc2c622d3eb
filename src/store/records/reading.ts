import { anything, arrayOf, count, name, object, oneOf, text, type FromSchema } from '../../base/index.js';
import { workResult } from './work-result.js';

/** The sources of a result, most trusted first. */
export const readingSource = oneOf(['json', 'text', 'streams', 'none']);

/** A reason why a reading is not accepted; the codes are listed in `docs/errors.md`. */
export const problemSchema = object({ code: name, message: text }, { path: text });

export const readingSchema = object(
  {
    source: readingSource,
    /** Any problem prevents the order from advancing. */
    problems: arrayOf(problemSchema),
  },
  {
    /** The file or stream the result was read from. */
    path: text,
    /** Present only if issue, run and status were read without repairs from a complete file; else see `problems`. */
    result: workResult,
    /** Anchors found in the output streams; never sufficient to advance. */
    anchors: object({}, { issue_ref: text, run_id: text, status: text }),
    /** The agent's answer if it left no valid result, at most 65,536 characters. Comments quote it. */
    answer: text,
    /** The length of a longer answer. */
    answer_length: count,
    /** Hints that do not affect the decision. */
    notices: arrayOf(problemSchema),
    /** A repaired result, which pre-fills the form in the inbox and does not affect the decision. */
    draft: anything,
  },
);

export type Problem = FromSchema<typeof problemSchema>;

/** The result read from an agent's output, and the problems with it. */
export type Reading = FromSchema<typeof readingSchema>;

/** Codes for results that could not be read. */
const UNREADABLE_CODES = [
  'RESULT_MISSING',
  'ONLY_ANCHORS',
  'RESULT_UNSAFE_FILE',
  'RESULT_TOO_LARGE',
  'RESULT_UNREADABLE',
  'RESULT_CHANGING',
  'RESULT_NOT_UTF8',
  'RESULT_NOT_JSON',
  'RESULT_NOT_OBJECT',
  'DUPLICATE_KEY',
  'HEADER_MALFORMED',
] as const;

/** Codes for problems with a result that was read. */
const INCOMPLETE_CODES = [
  'KEY_MISSING',
  'KEY_CONFLICT',
  'INVALID_VALUE',
  'CHANGES_MISSING',
  'TESTS_MISSING',
  'COMMIT_NOT_FOUND',
  'COMMIT_UNCHECKED',
  'COMMIT_NOT_PUSHED',
] as const;

const INCOMPLETE: ReadonlySet<string> = new Set(INCOMPLETE_CODES);

/** Whether the result could be read and only a key, a value or evidence is missing or invalid. */
export function isIncompleteCode(code: string): boolean {
  return INCOMPLETE.has(code);
}

/** Notices about how a result was read that do not affect the decision. */
const NOTICE_CODES = ['RESULT_OUTDATED', 'RESULT_SHADOWED', 'NOT_A_REPOSITORY'] as const;

/** All problem and hint codes. A closed list: `docs/errors.md` explains what to do about each. */
export const PROBLEM_CODES = [...UNREADABLE_CODES, ...INCOMPLETE_CODES, ...NOTICE_CODES] as const;
