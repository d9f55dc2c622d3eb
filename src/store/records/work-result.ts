import type { FromSchema } from '../../base/index.js';

/** Why an order did not succeed; `none` if it did. */
export const RESULT_CODES = [
  'none',
  'dep_unresolved',
  'test_failed',
  'ci_failed',
  'review_changes_requested',
  'env_unavailable',
  'permission_denied',
  'output_unparseable',
  'stale_run',
  'manual_intervention',
  'evidence_contradicted',
  'superseded',
] as const;

export type ResultCode = (typeof RESULT_CODES)[number];

const text = { type: 'string' } as const;
const strings = { type: 'array', items: text } as const;

/** The status that an agent reports. */
export const RESULT_STATUSES = ['ok', 'fail', 'blocked'] as const;

/** The test results an agent can report, and those that anything else is converted to. */
const REPORTED_TEST_RESULTS = ['pass', 'fail', 'n/a'] as const;
const TEST_RESULTS = [...REPORTED_TEST_RESULTS, 'not_run', 'not_recognised'] as const;

const testReport = {
  type: 'object',
  properties: {
    command: { ...text, description: 'The command that was run.' },
    result: { enum: TEST_RESULTS },
    evidence: { ...text, description: 'Evidence: a count, a log, a URL.' },
  },
  required: ['command', 'result', 'evidence'],
} as const;

const reportedTestReport = {
  ...testReport,
  properties: { ...testReport.properties, result: { enum: REPORTED_TEST_RESULTS } },
} as const;

/** The fields of a result. Used to read results: one that lacks evidence is kept, and the gap is reported. */
export const workResult = {
  type: 'object',
  properties: {
    issue_ref: { ...text, description: 'As in the work order.' },
    run_id: { ...text, description: 'As in the work order.' },
    status: {
      enum: RESULT_STATUSES,
      description: 'ok: done. fail: attempted without success. blocked: cannot continue without help.',
    },
    changes: {
      type: 'object',
      properties: {
        pr: { ...text, description: 'The URL or number of the pull or merge request.' },
        commit: { ...text, description: "The commit hash, in the order's repository." },
      },
      required: [],
      description: 'At least one of pr and commit, unless the status is blocked.',
    },
    tests: {
      anyOf: [testReport, { const: 'n/a' }],
      description: 'Required unless the status is blocked. Write n/a if there are no tests.',
    },
    summary: { ...text, description: 'What was done and why, for human readers.' },
    result_code: { ...text, description: `Why the work did not succeed: one of ${RESULT_CODES.join(', ')}.` },
    blocked_by: { ...strings, description: 'Issues or other things that must be resolved first.' },
    questions: { ...strings, description: 'Questions for the user.' },
  },
  required: ['issue_ref', 'run_id', 'status', 'changes', 'summary'],
} as const;

/**
 * JSON Schema of a work result; published as `sluice/schemas/work-result.json`. Agents are asked for this format;
 * `readWorkResult` also accepts PascalCase.
 */
export const WORK_RESULT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:work-result:1.0',
  title: 'WorkResult',
  ...workResult,
  properties: {
    ...workResult.properties,
    tests: { ...workResult.properties.tests, anyOf: [reportedTestReport, { const: 'n/a' }] },
  },
  if: { properties: { status: { enum: ['ok', 'fail'] } } },
  then: { required: ['tests'] },
} as const;

/**
 * An agent's report, with normalized keys. Unreported fields are absent: `tests` is missing if the agent reported
 * nothing about tests, and `n/a` only if the agent wrote that. Anything else about tests becomes `not_run` or
 * `not_recognised`, and is quoted in `evidence`.
 */
export type WorkResult = FromSchema<typeof workResult>;
