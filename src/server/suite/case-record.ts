import { arrayOf, flag, name, object, oneOf, orNull, text, timestamp, SluiceError } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  decisionAction,
  evidenceSchema,
  problemSchema,
  resolutionAction,
  workResult,
} from '../../store/records/index.js';

const verdictSchema = object(
  { action: resolutionAction, who: name, why: text, at: timestamp },
  { /** The result, as corrected by the user. */ result: workResult },
);

/** The order, and the facts known when it was decided, which cannot be determined again later. */
const orderFactsSchema = object(
  {
    issue_ref: name,
    run_id: name,
    worker: name,
    instructions: text,
    /** The evidence that was needed to advance: proof, or the agent's report if nothing contradicted it. */
    policy: oneOf(['proven', 'reported']),
    checks: arrayOf(name),
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    /** Sluice's evidence about commit, pull request, checks and paths. */
    evidence: arrayOf(evidenceSchema),
    /** Whether the work result was the agent's answer instead of a file that it wrote. */
    result_is_answer: flag,
  },
  {
    /** Whether the order asked for a change to the repository or only for a report. */
    expects: oneOf(['change', 'report']),
    /** The commit of the change: the agent's, or the one that Sluice made of what the agent had left. */
    commit: name,
    /** The problem with the commit that the result names. */
    commit_problem: problemSchema,
    decided: object({ action: decisionAction, code: name, reason: text }),
  },
);

/** `case.json`: the details of a case, without its bytes, its schema and its expectations. */
export const suiteCaseSchema = object(
  {
    format: { const: 'sluice-suite/1' },
    /** `text`: only an answer. `run`: a recorded run. `order`: a run that executed an order. */
    kind: oneOf(['text', 'run', 'order']),
    added_at: timestamp,
    /** The version of Sluice that added it. */
    added_with: name,
  },
  {
    run: name,
    engine: name,
    model: name,
    /** Absent if the run had no contract. The schema is in `schema.json`. */
    contract: object(
      {},
      { profile: oneOf(['default', 'generic', 'tagged', 'unified']), allow_partial: flag, align: flag },
    ),
    order: orderFactsSchema,
    verdict: verdictSchema,
    /** A description of the case for readers. */
    note: text,
  },
);

/**
 * A Sluice version's assessment of a case: `expected.json`, or the assessment that `sluice suite run` compares with it.
 */
export const assessmentSchema = object({
  /** The result of reading the bytes. */
  reading: { type: 'object' },
  /** The resulting decision. `reason` is for readers and is not compared. */
  decision: object({ action: name, code: name, reason: text }),
});

export type SuiteCase = FromSchema<typeof suiteCaseSchema>;

export type OrderFacts = FromSchema<typeof orderFactsSchema>;

export type CaseVerdict = FromSchema<typeof verdictSchema>;

export type Assessment = FromSchema<typeof assessmentSchema>;

/** Error codes of suites. A closed list: `docs/errors.md` explains what to do about each. */
export const SUITE_ERROR_CODES = [
  'SUITE_UNREADABLE',
  'CASE_NOT_FOUND',
  'CASE_INVALID',
  'CASE_TOO_LARGE',
  'RUN_NOT_ENDED',
] as const;

type SuiteErrorCode = (typeof SUITE_ERROR_CODES)[number];

export class SuiteError extends SluiceError<SuiteErrorCode> {
  override readonly name = 'SuiteError';
}
